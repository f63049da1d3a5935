// Model and settings: what answers, chosen by a click, and the settings table as a form.
// Above: `main`. Below: `state`, `api`. It refuses to know: what a setting does.

import { html, useEffect, useState } from "../vendor/htm-preact.js";
import { api, paths } from "./api.js";
import { Page, Switch } from "./parts.js";
import { attempt, change, state } from "./state.js";
import { Sentence, Words } from "./text.js";

// Where a part of the table begins, and what it is about.
const PARTS = {
  listen: "The console", model: "The model", sources: "Where tools come from", timezone: "Where you are", allow_read: "What tools may do",
  calls_a_turn: "Turns and jobs", before_pin: "The PIN", result_chars: "What a model gets to see", session_minutes: "Time and memory",
  personality: "How Etui speaks", plugin: "Plugins",
};

function Table() {
  const [sought, setSought] = useState("");
  const words = sought.trim().toLowerCase();
  const fits = (row) => `${row.name} ${title(row.name)} ${row.help}`.toLowerCase().includes(words);
  const found = state.settings.filter(fits);
  return html`<section class="part"><h3>Settings</h3>
    <input type="search" aria-label="Find a setting" placeholder=${`Find one of ${state.settings.length} settings`} value=${sought} onInput=${(event) => setSought(event.target.value)} />
    ${!found.length && html`<p class="hint" role="status">No setting fits.</p>`}
    <div class="settings">${found.map((row) => html`${!words && PARTS[row.name] && html`<h4 key=${`part-${row.name}`}>${PARTS[row.name]}</h4>`}<${Setting} key=${row.name} row=${row} />`)}</div>
  </section>`;
}

export function Settings() {
  return html`<${Page} title="Model and settings" lead="Everything is kept in one file, config.toml, with your comments in it.">
    <${Models} />
    <${Table} />
  </${Page}>`;
}

function Models() {
  const [busy, setBusy] = useState("");
  useEffect(() => {
    attempt(() => api.get("/api/models?look=1")).then((models) => models && change({ models }));
  }, []);
  const choose = async (id) => {
    setBusy(id);
    const models = await attempt(() => api.post("/api/models", { id }));
    if (models) change({ models });
    setBusy("");
  };
  const others = state.models.filter((one) => one.id !== "embedded" && one.ready);
  return html`<section class="part"><h3>What answers</h3>
    <ul class="models">${state.models.map((one) => html`<li key=${one.id} class=${one.chosen ? "chosen" : ""}>
      <div><strong><${Words} text=${one.label || one.id} /></strong><span class="quiet"><${Words} text=${one.why || ""} /></span></div>
      ${one.chosen ? html`<span class="badge good">answers now</span>` : html`<button type="button" disabled=${!one.ready || busy !== ""} onClick=${() => choose(one.id)}>${busy === one.id ? "Choosing…" : "Use this"}</button>`}
    </li>`)}</ul>
    ${!others.length && html`<p class="hint">To talk freely, put a provider's key in the environment (such as <code>OPENAI_API_KEY</code>, <code>ANTHROPIC_API_KEY</code> or <code>GEMINI_API_KEY</code>) and start Etui again, or start a server on this machine (Ollama, LM Studio, llama.cpp, vLLM) and come back here: it is offered by name.</p>`}
  </section>`;
}

function title(name) {
  const words = name.replaceAll("_", " ").replace(/\b(url|mb|mcp|pin|socks)\b/g, (one) => one.toUpperCase());
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function asText(row) {
  if (row.kind === "list" || row.kind === "table") return row.value.every?.((one) => typeof one === "string") ? row.value.join(", ") : JSON.stringify(row.value);
  return String(row.value ?? "");
}

function Setting({ row }) {
  const [draft, setDraft] = useState(null);
  const [note, setNote] = useState(null);
  const id = `setting-${row.name}`;
  const save = async (value) => {
    try {
      const rows = await api.put(paths.setting(row.name), { value });
      setDraft(null);
      setNote({ good: true, text: "Saved." });
      change({ settings: rows });
    } catch (error) {
      setNote({ good: false, text: error.message });
    }
  };
  const commit = () => {
    if (draft === null || draft === asText(row)) {
      setDraft(null);
      return;
    }
    if (row.kind === "number") save(Number(draft));
    else if (row.kind === "list" && !draft.trim().startsWith("[")) save(draft.split(",").map((one) => one.trim()).filter(Boolean));
    else if (row.kind === "list" || row.kind === "table") {
      try {
        save(JSON.parse(draft));
      } catch {
        setNote({ good: false, text: "This must be JSON." });
      }
    } else save(draft);
  };
  const shared = { id, value: draft ?? asText(row), "aria-describedby": `${id}-help`, onInput: (event) => setDraft(event.target.value), onBlur: commit, onKeyDown: (event) => event.key === "Enter" && (event.preventDefault(), commit()) };
  const changed = JSON.stringify(row.value) !== JSON.stringify(row.default);
  let control;
  if (row.kind === "switch") control = html`<${Switch} on=${row.value} label=${title(row.name)} onChange=${save} />`;
  else if (row.kind === "choice") control = html`<select id=${id} value=${row.value} aria-describedby=${`${id}-help`} onChange=${(event) => save(event.target.value)}>${row.choices.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}</select>`;
  else if (row.kind === "number") control = html`<input type="number" step="any" ...${shared} />`;
  else control = html`<input type="text" spellcheck="false" autocomplete="off" ...${shared} />`;
  return html`<div class="setting">
    <div><label for=${id}>${title(row.name)}</label>${changed && html`<span class="badge soft">changed</span>`}<p class="hint" id=${`${id}-help`}><${Sentence} text=${row.help} /></p>${note && html`<p class=${note.good ? "saved" : "wrong"} role="status">${note.text}</p>`}</div>
    ${control}
  </div>`;
}
