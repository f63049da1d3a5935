// The tools page: what there is by plugin, what was refused and why, and everything about one tool.
// Above: `main`. Below: `form`, `steps`, `state`. It refuses to know: how a tool runs.

import { html, useEffect, useRef, useState } from "../vendor/htm-preact.js";
import { api, paths } from "./api.js";
import { TryForm, limits, typeWords } from "./form.js";
import { Asked, Touches } from "./grants.js";
import { Empty, Icon, Page, Switch, ToolTabs } from "./parts.js";
import { again, attempt, change, state } from "./state.js";
import { Result, Steps } from "./steps.js";
import { Sentence, Words, seconds } from "./text.js";

export function Tools({ name }) {
  const [filter, setFilter] = useState("");
  const wanted = filter.trim().toLowerCase();
  const shown = state.tools.filter((one) => !wanted || `${one.name} ${one.description} ${one.plugin} ${one.contract}`.toLowerCase().includes(wanted));
  const groups = [...group(shown.filter((one) => one.source !== SHELF)), ...group(shown.filter((one) => one.source === SHELF))];
  const asleep = wanted ? [] : state.families.filter((one) => !one.on && !one.tools.length);
  return html`<div class=${`tools-layout ${name ? "has-one" : ""}`}>
    <${Page} title="Tools" name="tools-list" actions=${html`<${ToolTabs} page="tools" />`} lead=${html`Save a Python file in <code>${state.folder}</code> and its tools appear here at once.`}>
      <${Problems} />
      ${state.tools.length > 6 && html`<label class="search"><span class="sr">Find a tool</span><input type="search" placeholder=${`Find one of ${state.tools.length} tools`} value=${filter} onInput=${(event) => setFilter(event.target.value)} /></label>`}
      ${groups.map(([plugin, tools]) => html`<${Group} key=${plugin} name=${plugin} tools=${tools} open=${name} />`)}
      ${asleep.map((one) => html`<${Asleep} key=${one.name} family=${one} />`)}
      ${!state.tools.length && html`<${Empty} title="No tools yet"><p>Save this as <code>dice.py</code> in the folder above:</p><pre class="sample">${SAMPLE}</pre></${Empty}>`}
      ${state.tools.length > 0 && !shown.length && html`<p class="quiet">No tool matches “${filter}”.</p>`}
    </${Page}>
    ${name && html`<${Tool} key=${name} name=${name} />`}
  </div>`;
}

const SAMPLE = `from etui import tool

@tool(examples=["roll {count} dice", "roll a die"])
def roll(count: int = 1) -> list[int]:
    """Roll six-sided dice and say what came up."""
    import random
    return [random.randint(1, 6) for _ in range(count)]`;

// A person looks for their own tools first.
const SHELF = "shelf";

function group(tools) {
  const found = new Map();
  for (const one of tools) found.set(one.plugin, [...(found.get(one.plugin) || []), one]);
  return [...found].sort(([one], [other]) => one.localeCompare(other));
}

const AT_ONCE = 3;

function Problems() {
  const [all, setAll] = useState(false);
  // What is amiss comes before what works all the same; of a file that is simply no tool only who asks everything is told.
  const told = state.problems.filter((one) => !one.quiet).sort((one, other) => other.refused - one.refused);
  if (!told.length) return null;
  const refused = told.filter((one) => one.refused).length;
  const noted = told.length - refused;
  const title = refused ? `${refused} ${refused === 1 ? "thing was" : "things were"} refused${noted ? `, ${noted} more worth a look` : ""}` : "Worth a look";
  return html`<section class="problems" aria-label="What was refused">
    <h2>${title}</h2>
    <ul>${told.slice(0, all ? undefined : AT_ONCE).map((one, index) => html`<li key=${index} class=${one.refused ? "refused" : "warning"}>
      <p class="problem-what"><strong><${Words} text=${one.what} /></strong>${one.plugin && one.plugin !== one.what ? html` <span class="quiet">in ${one.plugin}</span>` : ""}</p>
      <p class="problem-why"><${Sentence} text=${one.reason} /></p>
      ${one.hint && html`<p class="problem-hint"><${Sentence} text=${one.hint} /></p>`}
      ${one.refused && html`<${Wanted} name=${one.plugin} />`}
      ${one.file && html`<p class="where"><code><${Words} text=${`${one.file}${one.line ? `:${one.line}` : ""}`} /></code></p>`}
      ${one.trace && html`<details class="detail"><summary>${one.trace.startsWith("Traceback") ? "Traceback" : "What it wrote"}</summary><pre><${Words} text=${one.trace} /></pre></details>`}
    </li>`)}</ul>
    ${told.length > AT_ONCE && html`<button type="button" class="link" aria-expanded=${all ? "true" : "false"} onClick=${() => setAll(!all)}>${all ? "Show fewer" : `Show all ${told.length}`}</button>`}
  </section>`;
}

// A plugin of which nothing is offered has no page of its own: what it waits for is given here.
function Wanted({ name }) {
  const plugin = state.plugins.find((one) => one.name === name);
  return plugin && !plugin.tools.length && plugin.asks.length ? html`<${Asked} plugin=${plugin} />` : null;
}

const GIVEN = { writing: "writes files", network: "uses the network", programs: "starts programs", environment: "gets variables" };

function Group({ name, tools, open }) {
  const plugin = state.plugins.find((one) => one.name === name);
  const family = plugin?.family && state.families.find((one) => one.name === plugin.family);
  const icons = [...new Set(tools.map((one) => one.icon).filter(Boolean))];
  const given = plugin ? plugin.touches.filter((one) => one.given && one.what !== "files") : [];
  return html`<section class="group" aria-label=${`Plugin ${name}`}>
    <header>${icons.length > 0 && html`<span class="group-icons" aria-hidden="true"><${Words} text=${icons.join(" ")} /></span>`}<h2><${Words} text=${name} /></h2>${plugin && html`<span class="badge">${plugin.contract}</span>`}${plugin && (plugin.settings || plugin.whole) && html`<a class="badge soft" href=${`#/plugins/${encodeURIComponent(name)}`}>settings</a>`}${given.map((one) => html`<span class="badge soft" title=${one.words}>${GIVEN[one.what]}</span>`)}${plugin?.asks.map((one) => html`<a class="badge ask" href=${`#/tools/${encodeURIComponent(tools[0].name)}`} title="It was not given this variable of the environment">asks for <${Words} text=${one} /></a>`)}${family && html`<${Switch} on=${family.on} label=${`Everything of ${name} is ${family.on ? "on" : "off"}`} onChange=${(on) => flip(family.name, on)} />`}</header>
    <ul>${tools.map((one) => html`<li key=${one.name} class=${`row ${one.on ? "" : "off"} ${open === one.name ? "open" : ""}`}>
      <a href=${`#/tools/${encodeURIComponent(one.name)}`} aria-current=${open === one.name ? "true" : undefined}>
        <span class="row-name"><${Words} text=${one.name} /></span>
        <span class="row-words"><${Words} text=${one.description} /></span>
      </a>
      <span class=${`risk ${one.risk}`} title=${one.does}>${one.risk}</span>
      <${Switch} on=${one.on} busy=${family && !family.on} label=${`${one.name} is ${one.on ? "on" : "off"}`} onChange=${(on) => flip(one.name, on)} />
    </li>`)}</ul>
  </section>`;
}

// A plugin that is off as a whole, and of which no code runs, not even to learn what it offers.
function Asleep({ family }) {
  const name = family.plugins[0] || family.name;
  return html`<section class="group" aria-label=${`Plugin ${name}`}>
    <header><h2><${Words} text=${name} /></h2><${Switch} on=${false} label=${`Everything of ${name} is off`} onChange=${(on) => flip(family.name, on)} /></header>
    <p class="quiet">It is switched off, and none of its code runs. What it offers is seen once it is on.</p>
  </section>`;
}

// Of a tool, or of a whole family by its name.
async function flip(name, on) {
  const done = await attempt(() => api.post(`${paths.tool(name)}/switch`, { on }));
  if (!done) return;
  change({ tools: state.tools.map((one) => (one.name === name ? { ...one, on: done.on } : one)), families: state.families.map((one) => (one.name === name ? { ...one, on: done.on } : one)), toolsAt: state.toolsAt + 1 });
  again("tools");
}

function Tool({ name }) {
  const [tool, setTool] = useState(null);
  const [gone, setGone] = useState("");
  const title = useRef(null);
  useEffect(() => {
    let current = true;
    api.get(paths.tool(name)).then(
      (given) => current && (setTool(given), setGone("")),
      (error) => current && (setTool(null), setGone(error.message)),
    );
    return () => {
      current = false;
    };
  }, [name, state.toolsAt, state.auditAt]);
  useEffect(() => {
    if (tool) title.current?.focus({ preventScroll: true });
  }, [tool?.name]);
  if (gone) return html`<aside class="one"><a class="back" href="#/tools"><${Icon} name="back" />All tools</a><${Empty} title="Not here"><p>${gone}</p></${Empty}></aside>`;
  if (!tool) return html`<aside class="one" aria-busy="true"><p class="quiet">Looking…</p></aside>`;
  return html`<aside class="one" aria-label=${`The tool ${tool.name}`}>
    <a class="back" href="#/tools"><${Icon} name="back" />All tools</a>
    <header class="one-head">
      <div><h2 ref=${title} tabindex="-1"><${Words} text=${tool.name} /></h2><p class="quiet">${tool.contract} · ${tool.plugin}${tool.pin ? " · needs your PIN" : ""}${tool.badges.map((one) => html` <span class="badge soft" key=${one}><${Words} text=${one} /></span>`)}</p></div>
      <${Switch} on=${tool.on} label=${`${tool.name} is ${tool.on ? "on" : "off"}`} onChange=${(on) => flip(tool.name, on)} />
    </header>
    <p class="about"><${Words} text=${tool.description} /></p>
    ${tool.file && html`<p class="where"><code><${Words} text=${`${tool.file}${tool.line ? `:${tool.line}` : ""}`} /></code></p>`}
    <${Section} title="Try it"><${Try} tool=${tool} /></${Section}>
    <${Section} title="What to say"><${Teach} tool=${tool} onTaught=${(taught) => setTool({ ...tool, taught })} /></${Section}>
    <${Section} title="What it may touch"><${Touches} tool=${tool} /></${Section}>
    <${Section} title="Arguments"><${Schema} parameters=${tool.parameters} /></${Section}>
    <${Section} title="Last calls">${tool.calls.length ? html`<${Steps} steps=${tool.calls} when=${true} />` : html`<p class="quiet">It was not called yet.</p>`}</${Section}>
  </aside>`;
}

function Section({ title, children }) {
  return html`<section class="part"><h3>${title}</h3>${children}</section>`;
}

function Try({ tool }) {
  const [busy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState(null);
  const call = async (given) => {
    setBusy(true);
    setOutcome(null);
    const done = await attempt(() => api.post(`${paths.tool(tool.name)}/call`, { arguments: given }));
    setBusy(false);
    if (done) setOutcome(done);
  };
  return html`<${TryForm} parameters=${tool.parameters} busy=${busy} onCall=${call} />
    <div role="status">${outcome && html`<div class=${`outcome is-${outcome.status}`}><${Result} outcome=${outcome} />${outcome.seconds ? html`<p class="quiet">It took ${seconds(outcome.seconds)}.</p>` : ""}</div>`}</div>`;
}

function Teach({ tool, onTaught }) {
  const [text, setText] = useState("");
  const [wrong, setWrong] = useState("");
  const teach = async (event) => {
    event.preventDefault();
    try {
      const done = await api.post(`${paths.tool(tool.name)}/teach`, { sentence: text.trim() });
      onTaught(done.taught);
      setText("");
      setWrong("");
    } catch (error) {
      setWrong(error.message);
    }
  };
  const forget = async (sentence) => {
    const done = await attempt(() => api.remove(`${paths.tool(tool.name)}/teach`, { sentence }));
    if (done) onTaught(done.taught);
  };
  return html`${tool.examples.length || tool.taught.length
      ? html`<ul class="sayings">
          ${tool.examples.map((one) => html`<li key=${one}>“<${Words} text=${one} />”</li>`)}
          ${tool.taught.map((one) => html`<li key=${`t-${one}`} class="mine">“<${Words} text=${one} />” <span class="badge soft">taught</span><button type="button" class="plain-button" aria-label=${`Forget “${one}”`} title="Forget it" onClick=${() => forget(one)}><${Icon} name="close" /></button></li>`)}
        </ul>`
      : html`<p class="quiet">Its author gave no examples. Teach it a sentence of yours:</p>`}
    <form class="teach" onSubmit=${teach}>
      <label class="sr" for="teach">A sentence that means this tool</label>
      <input id="teach" value=${text} maxlength="500" placeholder=${tool.arguments.length ? `such as: … {${tool.arguments[0]}} …` : "another way to say it"} onInput=${(event) => setText(event.target.value)} autocomplete="off" />
      <button disabled=${!text.trim()}>Teach it</button>
    </form>
    ${wrong && html`<p class="wrong" role="alert"><${Words} text=${wrong} /></p>`}
    ${tool.arguments.length > 0 && html`<p class="hint">Put an argument in braces where its value stands: ${tool.arguments.map((one, index) => html`${index ? ", " : ""}<code>${`{${one}}`}</code>`)}.</p>`}`;
}

function Schema({ parameters }) {
  const needed = new Set(parameters.required || []);
  const properties = Object.entries(parameters.properties || {});
  if (!properties.length) return html`<p class="quiet">It takes none.</p>`;
  return html`<table class="schema"><thead><tr><th scope="col">Name</th><th scope="col">What</th></tr></thead>
    <tbody>${properties.map(([name, schema]) => html`<tr key=${name}><th scope="row"><code><${Words} text=${name} /></code>${needed.has(name) ? html`<span class="needed">needed</span>` : ""}</th>
      <td><span class="field-type">${typeWords(schema)}</span>${schema?.description ? html` · <${Words} text=${schema.description} />` : ""}${limits(schema) ? html`<br /><span class="quiet"><${Words} text=${limits(schema)} /></span>` : ""}</td></tr>`)}</tbody></table>
    <details class="detail"><summary>The whole schema</summary><pre><${Words} text=${JSON.stringify(parameters, null, 2)} /></pre></details>`;
}
