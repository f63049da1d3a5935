// What one chat has: its toolset, what is added to it, and the account of each scope.
// Above: `chat`. Below: `state`, `api`. It refuses to know: what follows from a choice.

import { html, useEffect, useState } from "../vendor/htm-preact.js";
import { api, paths } from "./api.js";
import { attempt, routeName, state } from "./state.js";
import { Words } from "./text.js";

const OTHER = "\u0000other";
// Choices are asked of plugins' own routes, and of nothing else.
const ROUTE = /^\/api\/plugin\/([\w-]+)(?:\/[\w-]+)*(?:\?[\w=&-]*)?$/;

export function Choices({ chat, onClose }) {
  const [given, setGiven] = useState(null);
  const [sets, setSets] = useState(null);
  const path = `${paths.chat(chat)}/choices`;
  useEffect(() => {
    let current = true;
    attempt(() => Promise.all([api.get(path), api.get("/api/toolsets")])).then((both) => {
      if (current && both) {
        setGiven(both[0]);
        setSets(both[1]);
      }
    });
    return () => {
      current = false;
    };
  }, [chat, state.toolsAt, state.choicesAt]);
  if (!given || !sets) return html`<section class="choices" aria-label="Tools of this chat" aria-busy="true"><p class="quiet">Looking…</p></section>`;
  const choose = async (key, value) => {
    const found = await attempt(() => api.put(path, { key, value }));
    if (found) setGiven(found);
  };
  const words = [...new Set(sets.groups.flatMap((group) => group.tools.map((one) => one.category)))].sort();
  return html`<section class="choices" aria-label="Tools of this chat">
    <header><h2>Tools of this chat</h2><button type="button" class="small" onClick=${onClose}>Done</button></header>
    ${given.unknown.map((word) => html`<p key=${word} class="wrong" role="alert">Nothing is called “<${Words} text=${word} />”, so it adds no tools.</p>`)}
    <div class="choice"><label for="choice-toolset">Toolset</label><${Toolset} given=${given} sets=${sets.toolsets} words=${words} choose=${choose} /></div>
    <div class="choice"><span class="choice-name" id="choice-extra">Besides</span><${Extra} given=${given} sets=${sets.toolsets} words=${words} choose=${choose} /></div>
    ${given.prompts.length > 0 && html`<div class="choice"><label for="choice-prompt">Kind of prompt</label><select id="choice-prompt" value=${given.prompt} onChange=${(event) => choose("prompt_mode", event.target.value)}>${given.prompts.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}</select></div>`}
    ${given.scopes.map((scope) => html`<${Scope} key=${`${chat} ${scope.key}`} scope=${scope} choose=${choose} />`)}
    ${given.scopes.length > 0 && html`<div class="choice"><label for="choice-documents">Documents of its own</label><select id="choice-documents" value=${given.documents ? "chat" : ""} onChange=${(event) => choose("rag_scope", event.target.value || null)}><option value="">no</option><option value="chat">yes</option></select></div>`}
    ${given.tools.length > 0 ? html`<details class="hint" open=${given.tools.length <= 12}><summary>${given.tools.length === 1 ? "1 tool" : `${given.tools.length} tools`}</summary><${Words} text=${given.tools.join(", ")} /></details>` : html`<p class="hint">0 tools</p>`}
  </section>`;
}

function Toolset({ given, sets, words, choose }) {
  const chosen = typeof given.toolset === "string" ? given.toolset : given.toolset.join(", ");
  const known = new Set(["all", "none", ...sets.map((one) => one.name), ...words]);
  return html`<select id="choice-toolset" value=${chosen} onChange=${(event) => choose("toolset", event.target.value === "all" ? null : event.target.value)}>
    <option value="all">all</option><option value="none">none</option>
    ${!known.has(chosen) && html`<option value=${chosen}>${chosen}</option>`}
    ${sets.length > 0 && html`<optgroup label="Saved">${sets.map((one) => html`<option key=${one.name} value=${one.name}>${`${one.emoji} ${one.name}`.trim()}</option>`)}</optgroup>`}
    <optgroup label="Categories">${words.filter((word) => !sets.some((one) => one.name === word)).map((word) => html`<option key=${word} value=${word}>${word}</option>`)}</optgroup>
  </select>`;
}

function Extra({ given, sets, words, choose }) {
  const rest = [...new Set([...sets.map((one) => one.name), ...words])].filter((word) => !given.extra_toolsets.includes(word));
  return html`<div class="tags" role="group" aria-labelledby="choice-extra">
    ${given.extra_toolsets.map((word) => html`<span key=${word} class="badge">${word}<button type="button" class="plain-button" aria-label=${`Leave out ${word}`} onClick=${() => choose("extra_toolsets", given.extra_toolsets.filter((one) => one !== word))}>×</button></span>`)}
    ${given.toolset !== "all" && html`<select aria-label="Add a toolset" value="" onChange=${(event) => event.target.value && choose("extra_toolsets", [...given.extra_toolsets, event.target.value])}><option value="">add…</option>${rest.map((word) => html`<option key=${word} value=${word}>${word}</option>`)}</select>`}
    ${given.toolset === "all" && !given.extra_toolsets.length && html`<span class="quiet">nothing: it has them all</span>`}
  </div>`;
}

function Scope({ scope, choose }) {
  const [listed, setListed] = useState([]);
  const [typing, setTyping] = useState(false);
  const { endpoint } = scope.facts;
  useEffect(() => {
    if (ROUTE.exec(endpoint || "")?.[1] === routeName(scope.plugin)) api.get(endpoint).then((found) => setListed(rows(found, scope.facts)), () => setListed([]));
  }, [endpoint]);
  const known = new Map([...scope.accounts.map((name) => [name, name]), ...listed]);
  if (scope.chosen && scope.chosen !== "none" && scope.chosen !== scope.default && !known.has(scope.chosen)) known.set(scope.chosen, scope.chosen);
  known.delete(scope.default);
  const id = `choice-${scope.key}`;
  const take = (value) => (value === OTHER ? setTyping(true) : choose(`${scope.key}_scope`, value || null));
  const type = (event) => {
    event.preventDefault();
    setTyping(false);
    const name = new FormData(event.target).get("name").trim();
    if (name) choose(`${scope.key}_scope`, name);
  };
  return html`<div class="choice">
    <label for=${id}><${Words} text=${scope.label} /></label>
    ${typing
      ? html`<form class="choice-typed" onSubmit=${type}><input id=${id} name="name" maxlength="200" autocomplete="off" placeholder="its name" /><button>Use it</button></form>`
      : html`<select id=${id} value=${scope.chosen === scope.default ? "" : scope.chosen} onChange=${(event) => take(event.target.value)}>
          <option value="">${scope.default === "none" ? "closed (default)" : scope.default === "default" ? "default" : `${scope.default} (default)`}</option>
          ${[...known].map(([value, name]) => html`<option key=${value} value=${value}>${name}</option>`)}
          ${scope.default !== "none" && html`<option value="none">closed</option>`}
          <option value=${OTHER}>another name…</option>
        </select>`}
  </div>`;
}

// What a plugin's route lists: under its key, by its names for value and label.
function rows(found, { data_key: key, value_field: value = "name", name_field: name, label_template: template }) {
  const list = key && !Array.isArray(found) ? found?.[key] : found;
  if (!Array.isArray(list)) return [];
  return list.flatMap((one) => {
    if (typeof one === "string") return [[one, one]];
    const given = one?.[value] ?? one?.scope ?? one?.name;
    if (typeof given !== "string" && typeof given !== "number") return [];
    const id = String(given);
    const label = template ? template.replace(/\{(\w+)\}/g, (_, field) => one[field] ?? "") : one[name] ?? id;
    return [[id, String(label)]];
  });
}
