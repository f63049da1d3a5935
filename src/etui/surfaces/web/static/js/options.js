// One setting of a plugin as a control, by its type and widget; and the value that is kept of what was typed.
// Above: a plugin's form. Below: `api`. It refuses to know: which plugin it is, beyond the name in its addresses.

import { html, useEffect, useState } from "../vendor/htm-preact.js";
import { api } from "./api.js";
import { Switch } from "./parts.js";
import { Words } from "./text.js";

export const isSecret = (row) => row.type === "password" || row.widget === "password";

export function kindOf(row) {
  if (isSecret(row)) return "password";
  const widget = row.widget || "";
  if (["textarea", "select", "radio", "button"].includes(widget)) return widget;
  if (["list", "boolean", "number", "button", "select", "textarea"].includes(row.type)) return row.type;
  if (row.type === "integer") return "number";
  return Array.isArray(row.options) && row.options.length ? "select" : "string";
}

// What is kept of a draft: numbers as numbers, lists as lists. Throws a sentence for what is none.
export function changedValue(row, draft) {
  if (kindOf(row) === "number") {
    const value = Number(draft);
    if (String(draft).trim() === "" || !Number.isFinite(value)) throw new Error(`“${row.label || row.key}” must be a number.`);
    return value;
  }
  if (kindOf(row) === "list" && typeof draft === "string") return draft.split("\n").map((one) => one.trim()).filter(Boolean);
  return draft;
}

const choices = (row) => (row.options || []).map((one) => (one !== null && typeof one === "object" ? { label: String(one.label ?? one.value), value: one.value } : { label: String(one), value: one }));
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

export function Control({ row, value, given, draft, plugin, onValue, onForget }) {
  const kind = kindOf(row);
  const id = `plugin-${row.key}`;
  const shared = { id, name: row.key, placeholder: row.placeholder || "", "aria-describedby": row.help ? `${id}-help` : undefined };
  const typed = { ...shared, value: value ?? "", onInput: (event) => onValue(event.target.value) };
  const label = row.label || row.key;
  let control;
  if (kind === "boolean") control = html`<${Switch} on=${value === true} label=${label} onChange=${onValue} />`;
  else if (kind === "select") control = html`<select ...${shared} value=${String(choices(row).findIndex((one) => same(one.value, value)))} onChange=${(event) => onValue(choices(row)[Number(event.target.value)].value)}>${!choices(row).some((one) => same(one.value, value)) && html`<option value="-1" disabled>${value === undefined || value === null || value === "" ? "Choose…" : String(value)}</option>`}${choices(row).map((one, index) => html`<option key=${index} value=${String(index)}>${one.label}</option>`)}</select>`;
  else if (kind === "radio") control = html`<div class="radios" role="radiogroup" aria-label=${label}>${choices(row).map((one, index) => html`<label key=${index}><input type="radio" name=${row.key} checked=${same(one.value, value)} onChange=${() => onValue(one.value)} /> <${Words} text=${one.label} /></label>`)}</div>`;
  else if (kind === "textarea") control = html`<textarea ...${typed} rows=${row.rows || 4}></textarea>`;
  else if (kind === "number") control = html`<input ...${typed} type="number" step="any" />`;
  else if (kind === "password") control = html`<div class="secret"><input ...${shared} type="password" autocomplete="new-password" value=${draft ? value : ""} placeholder=${given ? "given; type to change it" : row.placeholder || ""} onInput=${(event) => onValue(event.target.value)} />${given && html`<button type="button" class="small" aria-label=${`Forget ${label}`} onClick=${onForget}>Forget</button>`}</div>`;
  else if (kind === "list") control = html`<${List} row=${row} value=${value} shared=${shared} plugin=${plugin} onValue=${onValue} />`;
  else if (kind === "button") control = html`<${Button} row=${row} plugin=${plugin} />`;
  else control = html`<input ...${typed} type="text" autocomplete="off" />`;
  const bare = ["boolean", "radio", "button", "list"].includes(kind);
  return html`<div class=${`field plugin-field is-${kind}`}>
    ${bare ? html`<span class="field-name"><${Words} text=${label} /></span>` : html`<label for=${id}><span class="field-name"><${Words} text=${label} /></span></label>`}
    ${control}
    ${row.help && html`<p class="hint" id=${`${id}-help`}><${Words} text=${row.help} /></p>`}
  </div>`;
}

// An address of the plugin's own: whole, or what stands behind its name. Nothing else is ever asked.
export function addressOf(plugin, named) {
  const path = typeof named === "string" ? named : named?.endpoint || named?.url || named?.path || "";
  if (!path || path.includes("//") || path.includes("..")) return "";
  const own = `/api/plugin/${encodeURIComponent(plugin)}/`;
  if (path.startsWith("/api/")) return path.startsWith(own) ? path : "";
  return own + path.replace(/^\//, "");
}

// What may be ticked comes from the plugin's own address, or from its manifest; else one a line.
function List({ row, value, shared, plugin, onValue }) {
  const [found, setFound] = useState(row.options_endpoint ? null : choices(row));
  const [wrong, setWrong] = useState("");
  useEffect(() => {
    const address = row.options_endpoint && addressOf(plugin, row.options_endpoint);
    if (!address) {
      if (row.options_endpoint) setWrong("Its options come from an address that is not the plugin’s own, so nobody asks there.");
      return;
    }
    api.get(address).then((given) => setFound(offered(row, given)), (error) => setWrong(error.message));
  }, [row.key, row.options_endpoint]);
  if (wrong) return html`<p class="wrong"><${Words} text=${wrong} /></p>`;
  if (found === null) return html`<p class="quiet" aria-busy="true">Looking…</p>`;
  const ticked = Array.isArray(value) ? value : [];
  if (!found.length && !row.options_endpoint) return html`<textarea ...${shared} rows="3" placeholder="one a line" aria-label=${row.label || row.key} value=${typeof value === "string" ? value : ticked.join("\n")} onInput=${(event) => onValue(event.target.value)}></textarea>`;
  // What was ticked once and is offered no more can still be taken out.
  const all = [...found, ...ticked.filter((one) => !found.some((other) => same(other.value, one))).map((one) => ({ label: String(one), value: one }))];
  const tick = (one, on) => onValue(all.map((other) => other.value).filter((other) => (same(other, one) ? on : ticked.some((kept) => same(kept, other)))));
  return html`<div class="ticks" role="group" aria-label=${row.label || row.key}>${all.map((one) => html`<label key=${JSON.stringify(one.value)}><input type="checkbox" checked=${ticked.some((kept) => same(kept, one.value))} onChange=${(event) => tick(one.value, event.target.checked)} /> <${Words} text=${one.label} /></label>`)}${!all.length && html`<p class="quiet">There is nothing to choose from.</p>`}</div>`;
}

function offered(row, given) {
  const rows = Array.isArray(given) ? given : given?.[row.data_key] ?? Object.values(given || {}).find(Array.isArray) ?? [];
  return (Array.isArray(rows) ? rows : []).map((one) => {
    if (one === null || typeof one !== "object") return { label: String(one), value: one };
    const value = one[row.value_field || "value"];
    return { label: String(one[row.name_field] ?? one.label ?? one.name ?? value), value };
  });
}

// A button of the plugin's: its action is one of the plugin's own addresses, and so is what tells how it stands.
function Button({ row, plugin }) {
  const [told, setTold] = useState("");
  const [busy, setBusy] = useState(false);
  const look = () => {
    const address = row.status && addressOf(plugin, row.status);
    if (address) api.get(address).then((given) => setTold(words(given)), (error) => setTold(error.message));
  };
  useEffect(look, [row.key]);
  const press = async (named) => {
    setBusy(true);
    try {
      const way = typeof named === "object" && named?.method?.toUpperCase() === "GET" ? "get" : "post";
      setTold(words(await api[way](addressOf(plugin, named))));
      if (row.status) look();
    } catch (error) {
      setTold(error.message);
    }
    setBusy(false);
  };
  return html`<div class="action"><button type="button" disabled=${busy || !addressOf(plugin, row.action)} onClick=${() => press(row.action)}><${Words} text=${row.button_label || row.label || row.key} /></button>
    ${row.disconnect && html`<button type="button" class="small" disabled=${busy} onClick=${() => press(row.disconnect)}>Disconnect</button>`}
    <span role="status" class="quiet"><${Words} text=${told} /></span></div>`;
}

function words(given) {
  if (given === null || typeof given !== "object") return String(given ?? "");
  for (const key of ["message", "status", "text", "error", "detail"]) if (typeof given[key] === "string") return given[key];
  if (typeof given.connected === "boolean") return given.connected ? "Connected." : "Not connected.";
  if (typeof given.success === "boolean") return given.success ? "Done." : "It did not work.";
  return "Done.";
}
