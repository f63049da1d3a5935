// The plugins that have settings or a manifest: switching, their settings as a form, other names, reading anew, taking off.
// Above: `main`. Below: `state`, `api`, `options`. It refuses to know: what a setting does.

import { html, useEffect, useState } from "../vendor/htm-preact.js";
import { api, paths } from "./api.js";
import { Control, changedValue, isSecret } from "./options.js";
import { Confirm, Empty, Icon, Page, Switch, ToolTabs } from "./parts.js";
import { again, attempt, state, toast } from "./state.js";
import { Sentence, Words } from "./text.js";

export function Plugins({ name }) {
  const shown = state.plugins.filter((one) => one.whole || one.settings).sort((one, other) => one.title.localeCompare(other.title));
  return html`<div class=${`tools-layout ${name ? "has-one" : ""}`}>
    <${Page} title="Plugins" name="tools-list" actions=${html`<${ToolTabs} page="plugins" />`} lead="Plugins that bring a manifest or settings of their own. A new one is off until you switch it on.">
      ${shown.length > 0 && html`<section class="group" aria-label="Plugins"><ul>${shown.map((one) => html`<${Row} key=${one.name} plugin=${one} open=${one.name === name} twin=${shown.some((other) => other !== one && other.title === one.title)} />`)}</ul></section>`}
      ${!shown.length && html`<${Empty} title="None yet"><p>Put a Sapphire plugin’s folder into <code>${state.folder.replace(/tools$/, "plugins")}</code>, and it appears here at once.</p></${Empty}>`}
    </${Page}>
    ${name && html`<${Plugin} key=${name} name=${name} />`}
  </div>`;
}

const isOn = (plugin) => state.families.find((one) => one.name === plugin.family)?.on ?? true;

async function flip(plugin, on) {
  if (await attempt(() => api.post(`${paths.tool(plugin.family)}/switch`, { on }))) again("tools");
}

function Row({ plugin, open, twin }) {
  return html`<li class=${`row plugin-row ${isOn(plugin) ? "" : "off"} ${open ? "open" : ""}`}>
    <a href=${`#/plugins/${encodeURIComponent(plugin.name)}`} aria-current=${open ? "true" : undefined}>
      <span class="row-name">${plugin.icon && html`<span class="plugin-icon" aria-hidden="true"><${Words} text=${plugin.icon} /></span> `}<${Words} text=${plugin.title} /></span>
      <span class="row-words"><${Words} text=${[twin && plugin.name, isOn(plugin) ? plugin.description : `off${plugin.description && `: ${plugin.description}`}`, plugin.tools.join(", ") || (isOn(plugin) && "no tools")].filter(Boolean).join(" · ")} /></span>
    </a>
    <${Switch} on=${isOn(plugin)} label=${`Everything of ${plugin.name} is ${isOn(plugin) ? "on" : "off"}`} onChange=${(on) => flip(plugin, on)} />
  </li>`;
}

function Plugin({ name }) {
  const [form, setForm] = useState(null);
  const [gone, setGone] = useState("");
  const plugin = state.plugins.find((one) => one.name === name);
  useEffect(() => {
    let current = true;
    api.get(`${paths.plugin(name)}/settings`).then(
      (given) => current && (setForm(given), setGone("")),
      (error) => current && (setForm(null), setGone(error.message)),
    );
    return () => {
      current = false;
    };
  }, [name, state.toolsAt]);
  const back = html`<a class="back" href="#/plugins"><${Icon} name="back" />All plugins</a>`;
  if (gone) return html`<aside class="one">${back}<${Empty} title="Not here"><p>${gone}</p></${Empty}></aside>`;
  if (!form || !plugin) return html`<aside class="one" aria-busy="true">${back}<p class="quiet">Looking…</p></aside>`;
  const problems = state.problems.filter((one) => one.plugin === name && !one.quiet);
  return html`<aside class="one" aria-label=${`The plugin ${form.title}`}>
    ${back}
    <header class="one-head"><div><h2 tabindex="-1"><${Words} text=${form.title} /></h2><p class="quiet">${plugin.contract} · <${Words} text=${form.called} />${plugin.version && html` · <${Words} text=${plugin.version} />`}</p></div>
      <${Switch} on=${isOn(plugin)} label=${`${form.title} is ${isOn(plugin) ? "on" : "off"}`} onChange=${(on) => flip(plugin, on)} /></header>
    ${plugin.description && html`<p><${Words} text=${plugin.description} /></p>`}
    ${problems.map((one, index) => html`<div key=${index}><p class=${one.refused ? "wrong" : "note"}><${Sentence} text=${`${one.reason} ${one.hint}`.trim()} /></p>${one.line ? html`<p class="where"><code><${Words} text=${`${one.file}:${one.line}`} /></code></p>` : ""}</div>`)}
    <section class="part"><h3>Settings</h3>${form.rows.length ? html`<${Form} form=${form} on=${isOn(plugin)} onForm=${setForm} />` : html`<p class="quiet">It has none.</p>`}</section>
    ${Object.keys(form.names).length > 0 && html`<section class="part"><details open=${problems.some((one) => one.refused)}><summary><h3>Names of its tools</h3></summary><${Names} form=${form} onForm=${setForm} /></details></section>`}
    <section class="part"><h3>The plugin itself</h3><${Itself} form=${form} plugin=${plugin} /></section>
  </aside>`;
}

// The settings by their tabs; only what was changed is sent.
function Form({ form, on, onForm }) {
  const [drafts, setDrafts] = useState({});
  const [note, setNote] = useState(null);
  const [asking, setAsking] = useState(null);
  const [busy, setBusy] = useState(false);
  const tabs = [...new Set(form.rows.map((row) => row.tab || ""))];
  const save = async (values) => {
    setBusy(true);
    try {
      onForm(await api.put(`${paths.plugin(form.plugin)}/settings`, { values }));
      setDrafts({});
      setNote({ good: true, text: "Saved." });
    } catch (error) {
      setNote({ good: false, text: error.message });
    }
    setBusy(false);
  };
  const submit = (event) => {
    event.preventDefault();
    setNote(null);
    let values;
    try {
      values = Object.fromEntries(form.rows.filter((row) => row.key in drafts).map((row) => [row.key, changedValue(row, drafts[row.key])]));
    } catch (error) {
      setNote({ good: false, text: error.message });
      return;
    }
    const doubts = form.rows.filter((row) => row.key in values && doubtful(row, values[row.key]));
    if (doubts.length) setAsking({ values, doubts });
    else save(values);
  };
  return html`<form class="plugin-form" onSubmit=${submit} novalidate>
    ${form.broken && html`<p class="wrong"><${Sentence} text=${form.broken} /></p>`}
    ${tabs.map((tab) => html`<fieldset key=${tab}>${tab && html`<legend><${Words} text=${tab} /></legend>`}
      ${form.rows.filter((row) => (row.tab || "") === tab).map((row) => html`<${Control} key=${`${row.key} ${on}`} row=${row} value=${row.key in drafts ? drafts[row.key] : form.values[row.key]} given=${form.secrets[row.key]} draft=${row.key in drafts} plugin=${form.called} onValue=${(value) => setDrafts((now) => ({ ...now, [row.key]: value }))} onForget=${() => save({ [row.key]: "" })} />`)}
    </fieldset>`)}
    ${form.rows.some(isSecret) && html`<p class="hint">${form.in_file ? html`This plugin looks for its file of settings by itself, so its passwords stand in it, where other plugins could read them: <code><${Words} text=${form.file} /></code>.` : "Passwords are kept apart from the other settings, where no other plugin gets them."}</p>`}
    <div role="status">${note && html`<p class=${note.good ? "saved" : "wrong"}><${Words} text=${note.text} /></p>`}</div>
    ${form.rows.some((row) => (row.widget || row.type) !== "button") && html`<div class="buttons"><button class="primary" disabled=${busy || !Object.keys(drafts).length}>Save</button>${Object.keys(drafts).length > 0 && html`<button type="button" class="link" onClick=${() => (setDrafts({}), setNote(null))}>Undo</button>`}</div>`}
    ${asking && html`<${Doubts} rows=${asking.doubts} onYes=${() => (setAsking(null), save(asking.values))} onNo=${() => setAsking(null)} />`}
  </form>`;
}

// Whether the author wants the person asked before this value is saved.
function doubtful(row, value) {
  if (!row.confirm) return false;
  const values = row.confirm.values;
  return !Array.isArray(values) || values.some((one) => JSON.stringify(one) === JSON.stringify(value) || String(one) === String(value));
}

function Doubts({ rows, onYes, onNo }) {
  const first = typeof rows[0].confirm === "object" ? rows[0].confirm : {};
  return html`<${Confirm} title=${first.title || `Change ${rows[0].label || rows[0].key}?`} yes=${first.buttonLabel || "Save it"} onYes=${onYes} onNo=${onNo}>
    ${rows.map((row) => warnings(row).map((one, index) => html`<p key=${`${row.key}-${index}`}><${Words} text=${one} /></p>`))}
  </${Confirm}>`;
}

function warnings(row) {
  if (typeof row.confirm === "string") return [row.confirm];
  const said = row.confirm.warnings ?? [];
  return (Array.isArray(said) ? said : [said]).filter((one) => typeof one === "string");
}

// A tool can have another name here, for where two plugins have the same.
function Names({ form, onForm }) {
  return html`<ul class="names">${Object.entries(form.names).map(([tool, name]) => html`<${Name} key=${`${tool}=${name}`} form=${form} tool=${tool} name=${name} onForm=${onForm} />`)}</ul>`;
}

function Name({ form, tool, name, onForm }) {
  const [draft, setDraft] = useState(name);
  const keep = async (event) => {
    event.preventDefault();
    const done = await attempt(() => api.post(`${paths.plugin(form.plugin)}/alias`, { tool, name: draft.trim() }));
    if (done) {
      onForm(done);
      again("tools");
    }
  };
  return html`<li><form class="name" onSubmit=${keep}><label><span class="quiet"><${Words} text=${tool} /> is called</span><input value=${draft} maxlength="64" spellcheck="false" autocomplete="off" onInput=${(event) => setDraft(event.target.value)} /></label><button class="small" disabled=${draft.trim() === name}>Rename</button></form></li>`;
}

function Itself({ form, plugin }) {
  const [busy, setBusy] = useState(false);
  const [sure, setSure] = useState(false);
  const [told, setTold] = useState([]);
  const act = async (work) => {
    setBusy(true);
    const done = await attempt(work);
    setBusy(false);
    if (done) again("tools");
    return done;
  };
  const reload = async () => {
    const done = await act(() => api.post(`${paths.plugin(form.plugin)}/reload`));
    if (done) setTold([done.loaded ? "It was reloaded." : "It did not load; what is wrong stands above."]);
  };
  const uninstall = async () => {
    setSure(false);
    const done = await act(() => api.remove(paths.plugin(form.plugin)));
    if (!done) return;
    // The name may be another plugin's now, so its page is left.
    location.hash = "#/plugins";
    toast([`${form.title} was taken off.`, ...done.kept].join(" "));
  };
  return html`<p class="where"><code><${Words} text=${plugin.path} /></code></p>
    <div class="buttons"><button type="button" disabled=${busy} onClick=${reload}>Reload</button>
      ${plugin.whole && (sure ? html`<button type="button" class="danger" disabled=${busy} onClick=${uninstall}>Yes, remove its folder and settings</button><button type="button" class="link" onClick=${() => setSure(false)}>No</button>` : html`<button type="button" disabled=${busy} onClick=${() => setSure(true)}>Uninstall</button>`)}</div>
    <div role="status">${told.map((one) => html`<p key=${one} class="note"><${Words} text=${one} /></p>`)}</div>`;
}
