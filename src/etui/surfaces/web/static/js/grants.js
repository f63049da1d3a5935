// What a plugin may touch and what it asks for, with the owner's word on each: one click gives, takes back or forbids.
// Above: a tool's page. Below: `state`, `api`. It refuses to know: how a worker is held to it.

import { html, useEffect, useState } from "../vendor/htm-preact.js";
import { api, paths } from "./api.js";
import { again, attempt, state } from "./state.js";
import { Words, seconds } from "./text.js";

// The parts that an owner can forbid, by the names of the list and by the host's own.
const PARTS = { writing: "write", network: "network", programs: "subprocess" };

export function Touches({ tool }) {
  const [busy, setBusy] = useState(false);
  const [grant, setGrant] = useState(null);
  useEffect(() => {
    let current = true;
    if (!OTHERS.has(tool.contract)) attempt(() => api.get(`${paths.plugin(tool.plugin)}/grant`)).then((given) => current && given && setGrant(given));
    return () => {
      current = false;
    };
  }, [tool.plugin, tool.contract, state.toolsAt]);
  const decide = async (wish) => {
    setBusy(true);
    const done = await attempt(() => api.post(`${paths.plugin(tool.plugin)}/grant`, wish));
    setBusy(false);
    if (done) setGrant(done);
    return done;
  };
  const touches = grant?.touches || tool.touches;
  return html`<p>It ${tool.does}${tool.timeout ? html`, and may take ${seconds(tool.timeout)}` : ""}. Everything in its plugin together:</p>
    <ul class="touches">${touches.map((one) => html`<li key=${one.what} class=${one.given ? "given" : "withheld"}><span class="dot" aria-hidden="true"></span><span class="touch-words"><${Words} text=${one.words} /></span><${Forbid} grant=${grant} part=${PARTS[one.what]} busy=${busy} decide=${decide} /></li>`)}</ul>
    ${grant && html`<${Opened} grant=${grant} busy=${busy} decide=${decide} /><${Variables} grant=${grant} busy=${busy} decide=${decide} />`}
    ${tool.notes.map((note) => html`<p class="note" key=${note}><${Words} text=${note} /></p>`)}
    <p class=${`enforced ${tool.held.whole ? "yes" : "no"}`}>${tool.held.words}</p>`;
}

// What runs in no worker: functions of the program itself, and servers that others run.
const OTHERS = new Set(["inline", "mcp"]);
const NAMES = { write: "writing files", network: "the network", subprocess: "starting programs" };

function Forbid({ grant, part, busy, decide }) {
  if (!grant || !part) return null;
  if (grant.forbidden.includes(part)) return html`<span class="badge soft">forbidden</span><button type="button" class="small" disabled=${busy} aria-label=${`Allow ${NAMES[part]} again`} onClick=${() => decide({ allow: part })}>Allow again</button>`;
  const has = part === "write" ? grant.has.write.some((path) => !grant.opened.write.includes(path)) : grant.has[part];
  return has
    ? html`${grant.allowed.includes(part) && html`<span class="badge soft">you let it</span>`}<button type="button" class="small" disabled=${busy} aria-label=${`Forbid ${NAMES[part]}`} onClick=${() => decide({ forbid: part })}>Forbid</button>`
    : html`<button type="button" class="small" disabled=${busy} aria-label=${`Allow ${NAMES[part]}`} onClick=${() => decide({ allow: part })}>Allow</button>`;
}

// Folders and files of the person's own, which nothing but their word opens.
function Opened({ grant, busy, decide }) {
  const paths = [...grant.opened.read.map((path) => [path, "may read"]), ...grant.opened.write.map((path) => [path, "may read and write"])];
  return html`<div class="variables">
    ${paths.length > 0 && html`<h4>Folders and files of yours</h4>
      <ul>${paths.map(([path, may]) => html`<li key=${path}><div class="variable"><code><${Words} text=${path} /></code><span class="quiet">${may}</span><button type="button" class="small" disabled=${busy} aria-label=${`Take ${path} back`} onClick=${() => decide({ shut: path })}>Take back</button></div></li>`)}</ul>`}
    <details class="detail"><summary>${paths.length ? "Open another folder or file" : "Open a folder or file of yours to it"}</summary><${Open} busy=${busy} decide=${decide} /></details>
  </div>`;
}

function Open({ busy, decide }) {
  const [path, setPath] = useState("");
  const [write, setWrite] = useState(false);
  const open = async (event) => {
    event.preventDefault();
    if (await decide({ [write ? "write" : "read"]: path.trim() })) setPath("");
  };
  return html`<form class="give" onSubmit=${open}>
    <label><span>Path, from / or ~</span><input value=${path} maxlength="4096" autocomplete="off" spellcheck="false" onInput=${(event) => setPath(event.target.value)} /></label>
    <label class="check"><input type="checkbox" checked=${write} onChange=${(event) => setWrite(event.target.checked)} /><span>it may write there, too</span></label>
    <button disabled=${busy || !path.trim()}>Open it</button>
  </form>`;
}

function Variables({ grant, busy, decide }) {
  const names = [...new Set([...grant.missing, ...grant.given])].sort();
  return html`<div class="variables">
    ${names.length > 0 && html`<h4>Variables of the environment</h4>
      <ul>${names.map((name) => html`<li key=${name}><${Variable} name=${name} given=${grant.given.includes(name)} asked=${grant.asks.env.includes(name)} empty=${grant.missing.includes(name)} busy=${busy} decide=${decide} /></li>`)}</ul>`}
    <details class="detail"><summary>${names.length ? "Give it another variable" : "Give it a variable of the environment"}</summary><${Give} busy=${busy} decide=${decide} /></details>
  </div>`;
}

// The variables that a plugin waits for, where nothing else of it can be shown.
export function Asked({ plugin }) {
  const [busy, setBusy] = useState(false);
  const decide = async (wish) => {
    setBusy(true);
    const done = await attempt(() => api.post(`${paths.plugin(plugin.name)}/grant`, wish));
    setBusy(false);
    if (done) again("tools");
    return done;
  };
  return html`<div class="variables">${plugin.asks.map((name) => html`<${Variable} key=${name} name=${name} given=${false} asked=${true} empty=${true} busy=${busy} decide=${decide} />`)}</div>`;
}

function Variable({ name, given, asked, empty, busy, decide }) {
  const [own, setOwn] = useState(false);
  return html`<div class="variable">
    <code><${Words} text=${name} /></code>
    <span class="quiet">${!given ? "asked for, not given" : empty ? "given, but Etui's own environment does not have it" : "given"}${given && !asked ? ", though its source does not name it" : ""}</span>
    ${given
      ? html`<button type="button" class="small" disabled=${busy} aria-label=${`Take ${name} back`} onClick=${() => decide({ take: name })}>Take back</button>`
      : html`<button type="button" class="small primary" disabled=${busy} aria-label=${`Give ${name}`} onClick=${() => decide({ give: name })}>Give it</button>
          <button type="button" class="small link" aria-expanded=${own ? "true" : "false"} onClick=${() => setOwn(!own)}>with another value</button>`}
  </div>
  ${own && !given && html`<${Give} name=${name} busy=${busy} decide=${decide} />`}`;
}

// The value is sent once and never shown again.
function Give({ name = "", busy, decide }) {
  const [chosen, setChosen] = useState("");
  const [value, setValue] = useState("");
  const what = name || chosen.trim();
  const give = async (event) => {
    event.preventDefault();
    if (await decide(value ? { give: what, value } : { give: what })) {
      setChosen("");
      setValue("");
    }
  };
  return html`<form class="give" onSubmit=${give}>
    ${!name && html`<label><span>Name</span><input value=${chosen} maxlength="200" autocomplete="off" spellcheck="false" onInput=${(event) => setChosen(event.target.value)} /></label>`}
    <label><span>Value</span><input type="password" value=${value} autocomplete="off" placeholder=${name ? "" : "empty: the one that Etui has"} onInput=${(event) => setValue(event.target.value)} /></label>
    <button disabled=${busy || !what || (name && !value)}>Give it</button>
  </form>`;
}
