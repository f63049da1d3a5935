// Toolsets: every tool under its heading, and the saved sets of them, made and changed by ticking.
// Above: `main`. Below: `state`, `api`. It refuses to know: which chat uses a set.

import { html, useEffect, useState } from "../vendor/htm-preact.js";
import { api, paths } from "./api.js";
import { Confirm, Empty, Page, ToolTabs } from "./parts.js";
import { attempt, state } from "./state.js";
import { Words } from "./text.js";

export function Toolsets() {
  const [given, setGiven] = useState(null);
  const [edited, setEdited] = useState(null);
  const look = () => attempt(() => api.get("/api/toolsets")).then((found) => found && setGiven(found));
  useEffect(() => {
    look();
  }, [state.toolsAt]);
  if (!given) return html`<${Page} title="Toolsets" actions=${html`<${ToolTabs} page="toolsets" />`}><p class="quiet">Looking…</p></${Page}>`;
  const toggle = (names, on) => {
    const chosen = new Set(edited.names);
    for (const name of names) on ? chosen.add(name) : chosen.delete(name);
    setEdited({ ...edited, names: chosen });
  };
  const done = async (saved) => {
    setEdited(null);
    if (saved) await look();
  };
  return html`<${Page} title="Toolsets" name="toolsets" actions=${html`<${ToolTabs} page="toolsets" />`} lead="Which tools belong together. A chat has all of them until you choose a set, a category or single tools for it, in the chat itself.">
    ${given.trouble && html`<p class="wrong" role="alert"><${Words} text=${given.trouble} /></p>`}
    ${edited ? html`<${Editor} edited=${edited} onEdited=${setEdited} onDone=${done} />` : html`<${Saved} sets=${given.toolsets} onEdit=${setEdited} onGone=${look} />`}
    ${given.groups.map((one) => html`<${Group} key=${one.name} group=${one} chosen=${edited?.names} onToggle=${toggle} />`)}
    ${!given.groups.length && html`<${Empty} title="No tools yet"><p>There is nothing to put into a set. <a href="#/tools">The tools page</a> says how to get some.</p></${Empty}>`}
  </${Page}>`;
}

function Saved({ sets, onEdit, onGone }) {
  const [asking, setAsking] = useState("");
  const remove = async (name) => {
    setAsking("");
    if (await attempt(() => api.remove(paths.toolset(name)))) onGone();
  };
  return html`<section class="part saved-sets" aria-label="Saved toolsets"><h3>Saved</h3>
    ${asking && html`<${Confirm} title=${`Remove the toolset “${asking}”?`} yes="Remove it" danger=${true} onYes=${() => remove(asking)} onNo=${() => setAsking("")}><p>Its tools stay.</p></${Confirm}>`}
    ${sets.length
      ? html`<ul>${sets.map((one) => html`<li key=${one.name}>
          <span class="set-emoji" aria-hidden="true">${one.emoji || "·"}</span>
          <div><strong><${Words} text=${one.name} /></strong><span class="quiet"><${Words} text=${one.functions.join(", ") || "no tools"} /></span></div>
          <button type="button" class="small" aria-label=${`Change ${one.name}`} onClick=${() => onEdit({ name: one.name, emoji: one.emoji, old: one.name, names: new Set(one.functions) })}>Change</button>
          <button type="button" class="small" aria-label=${`Remove ${one.name}`} onClick=${() => setAsking(one.name)}>Remove</button>
        </li>`)}</ul>`
      : html`<p class="quiet">None yet.</p>`}
    <div class="buttons"><button type="button" class="primary" onClick=${() => onEdit({ name: "", emoji: "", old: "", names: new Set() })}>New toolset</button></div>
  </section>`;
}

function Editor({ edited, onEdited, onDone }) {
  const [wrong, setWrong] = useState("");
  const save = async (event) => {
    event.preventDefault();
    try {
      await api.put(paths.toolset(edited.name.trim()), { functions: [...edited.names].sort(), emoji: edited.emoji });
      if (edited.old && edited.old !== edited.name.trim()) await api.remove(paths.toolset(edited.old));
      onDone(true);
    } catch (error) {
      setWrong(error.message);
    }
  };
  return html`<form class="part set-editor" onSubmit=${save} aria-label="Toolset">
    <h3>${edited.old ? "Change a toolset" : "A new toolset"}</h3>
    <div class="set-fields">
      <label><span>Name</span><input value=${edited.name} maxlength="64" autocomplete="off" onInput=${(event) => onEdited({ ...edited, name: event.target.value })} /></label>
      <label class="set-emoji-field"><span>Emoji</span><input value=${edited.emoji} maxlength="16" autocomplete="off" onInput=${(event) => onEdited({ ...edited, emoji: event.target.value })} /></label>
    </div>
    <p class="hint">Tick its tools below: ${edited.names.size} ${edited.names.size === 1 ? "is" : "are"} in it.</p>
    ${wrong && html`<p class="wrong" role="alert"><${Words} text=${wrong} /></p>`}
    <div class="buttons"><button class="primary" disabled=${!edited.name.trim()}>Save it</button><button type="button" onClick=${() => onDone(false)}>Leave it</button></div>
  </form>`;
}

function Group({ group, chosen, onToggle }) {
  const names = group.tools.map((one) => one.name);
  const all = chosen && names.every((name) => chosen.has(name));
  return html`<section class="group picker" aria-label=${`Group ${group.name}`}>
    <header>
      ${chosen && html`<input type="checkbox" checked=${all} aria-label=${`All of ${group.name}`} onChange=${(event) => onToggle(names, event.target.checked)} />`}
      ${group.icons.length > 0 && html`<span class="group-icons">${group.icons.join(" ")}</span>`}<h2><${Words} text=${group.name} /></h2><span class="quiet">${names.length === 1 ? "1 tool" : `${names.length} tools`}</span>
    </header>
    <ul>${group.tools.map((one) => html`<li key=${one.name} class=${`row ${one.on ? "" : "off"}`}>
      <label>
        ${chosen && html`<input type="checkbox" checked=${chosen.has(one.name)} onChange=${(event) => onToggle([one.name], event.target.checked)} />`}
        <span class="row-name"><${Words} text=${one.name} />${one.badges.map((badge) => html`<span key=${badge} class=${`badge soft tool-badge is-${badge}`}>${badge}</span>`)}${one.scope ? html`<span class="badge soft" title="It needs this scope to be open in a chat">needs ${one.scope}</span>` : ""}${one.on ? "" : html`<span class="badge soft">off</span>`}</span>
        <span class="row-words"><${Words} text=${one.description} /></span>
      </label>
      <span class=${`risk ${one.risk}`}>${one.risk}</span>
    </li>`)}</ul>
  </section>`;
}
