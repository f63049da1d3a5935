// A form made from a tool's JSON Schema, and the arguments made from the form.
// Above: a tool's page. Below: the view library. It refuses to know: whether the host will accept them.

import { html, useState } from "../vendor/htm-preact.js";
import { Words } from "./text.js";

const SCALARS = new Set(["string", "number", "integer", "boolean"]);

// The schema without its null branch, and whether null was in it.
export function bare(schema) {
  if (!schema || typeof schema !== "object") return {};
  const branches = schema.anyOf || schema.oneOf;
  if (branches) {
    const real = branches.filter((one) => one.type !== "null");
    if (real.length === 1) return { ...schema, anyOf: undefined, oneOf: undefined, ...bare(real[0]) };
    return schema;
  }
  if (Array.isArray(schema.type)) {
    const real = schema.type.filter((one) => one !== "null");
    return real.length === 1 ? { ...schema, type: real[0] } : schema;
  }
  return schema;
}

export function kindOf(schema) {
  const one = bare(schema);
  if ("const" in one) return "choice";
  if (Array.isArray(one.enum)) return "choice";
  if (SCALARS.has(one.type)) return one.type;
  if (one.type === "array" && SCALARS.has(bare(one.items).type) && !bare(one.items).enum) return "lines";
  return "json";
}

export function typeWords(schema) {
  const one = bare(schema);
  if ("const" in one) return `always ${JSON.stringify(one.const)}`;
  if (Array.isArray(one.enum)) return "one of a few";
  if (one.anyOf || one.oneOf) return (one.anyOf || one.oneOf).map(typeWords).join(" or ");
  const names = { string: "text", integer: "whole number", number: "number", boolean: "yes or no", object: "object", array: "list", null: "nothing" };
  const formats = { date: "date", "date-time": "date and time", time: "time", duration: "length of time", uuid: "UUID", uri: "address", email: "email address" };
  if (one.type === "string" && formats[one.format]) return formats[one.format];
  if (one.type === "array" && one.items) return `list of ${typeWords(one.items)}`;
  return names[one.type] || "anything";
}

export function limits(schema) {
  const one = bare(schema);
  const words = [];
  if (Array.isArray(one.enum)) words.push(one.enum.map((value) => (typeof value === "string" ? value : JSON.stringify(value))).join(", "));
  if (one.minimum !== undefined) words.push(`at least ${one.minimum}`);
  if (one.exclusiveMinimum !== undefined) words.push(`more than ${one.exclusiveMinimum}`);
  if (one.maximum !== undefined) words.push(`at most ${one.maximum}`);
  if (one.exclusiveMaximum !== undefined) words.push(`less than ${one.exclusiveMaximum}`);
  if (one.minLength !== undefined) words.push(`${one.minLength} characters or more`);
  if (one.maxLength !== undefined) words.push(`${one.maxLength} characters at most`);
  if (one.minItems !== undefined) words.push(`${one.minItems} items or more`);
  if (one.maxItems !== undefined) words.push(`${one.maxItems} items at most`);
  if (one.pattern !== undefined) words.push(`like ${one.pattern}`);
  if (one.default !== undefined && one.default !== null && one.default !== "") words.push(`usually ${typeof one.default === "string" ? one.default : JSON.stringify(one.default)}`);
  return words.join("; ");
}

function read(schema, raw, name) {
  const kind = kindOf(schema);
  const one = bare(schema);
  if (kind === "string") return raw;
  if (kind === "integer" || kind === "number") {
    const value = Number(raw);
    if (raw.trim() === "" || !Number.isFinite(value)) throw new Error(`“${name}” must be a number.`);
    return value;
  }
  if (kind === "boolean") return raw === "true";
  if (kind === "choice") return "const" in one ? one.const : one.enum[Number(raw)];
  if (kind === "lines") return raw.split("\n").filter((line) => line.trim()).map((line) => read(one.items, line, name));
  try {
    return JSON.parse(raw);
  } catch {
    throw new Error(`“${name}” must be JSON, such as ${one.type === "array" ? '["a", "b"]' : '{"key": "value"}'}.`);
  }
}

export function collect(parameters, fields) {
  const made = {};
  const needed = new Set(parameters.required || []);
  for (const [name, schema] of Object.entries(parameters.properties || {})) {
    const raw = fields[name] ?? "";
    if (raw === "") {
      if (needed.has(name) && kindOf(schema) !== "string") throw new Error(`“${name}” is missing.`);
      if (needed.has(name)) made[name] = "";
      continue;
    }
    made[name] = read(schema, raw, name);
  }
  return made;
}

const MANNERS = { date: "date", time: "time", email: "email", uri: "url" };

function Field({ name, schema, needed, value, onValue }) {
  const kind = kindOf(schema);
  const one = bare(schema);
  const id = `field-${name}`;
  const hint = limits(schema);
  const shared = { id, name, value, "aria-describedby": hint || one.description ? `${id}-hint` : undefined, onInput: (event) => onValue(event.target.value) };
  const usual = one.default !== undefined && one.default !== null ? (typeof one.default === "string" ? one.default : JSON.stringify(one.default)) : "";
  let control;
  if (kind === "choice") {
    const values = "const" in one ? [one.const] : one.enum;
    control = html`<select ...${shared}><option value="">${needed ? "Choose…" : "(left out)"}</option>${values.map((item, index) => html`<option key=${index} value=${String(index)}>${typeof item === "string" ? item : JSON.stringify(item)}</option>`)}</select>`;
  } else if (kind === "boolean") {
    control = html`<select ...${shared}><option value="">${needed ? "Choose…" : "(left out)"}</option><option value="true">yes</option><option value="false">no</option></select>`;
  } else if (kind === "integer" || kind === "number") {
    control = html`<input ...${shared} type="number" step=${kind === "integer" ? "1" : "any"} min=${one.minimum} max=${one.maximum} placeholder=${usual} />`;
  } else if (kind === "lines") {
    control = html`<textarea ...${shared} rows="2" placeholder="one a line"></textarea>`;
  } else if (kind === "json") {
    control = html`<textarea ...${shared} class="code" rows="2" spellcheck="false" placeholder=${one.type === "array" ? "[ ]" : "{ }"}></textarea>`;
  } else {
    control = MANNERS[one.format] ? html`<input ...${shared} type=${MANNERS[one.format]} />` : html`<textarea ...${shared} rows="1" placeholder=${usual}></textarea>`;
  }
  return html`<div class="field">
    <label for=${id}><span class="field-name"><${Words} text=${name} /></span>${needed ? html`<span class="needed" title="needed">needed</span>` : ""}<span class="field-type">${typeWords(schema)}</span></label>
    ${control}
    ${(one.description || hint) && html`<p class="hint" id=${`${id}-hint`}>${one.description ? html`<${Words} text=${one.description} />` : ""}${one.description && hint ? " · " : ""}${hint && html`<${Words} text=${hint} />`}</p>`}
  </div>`;
}

// `onCall` gets the arguments; what cannot be read is said under the form.
export function TryForm({ parameters, busy, onCall }) {
  const [fields, setFields] = useState({});
  const [raw, setRaw] = useState(null);
  const [wrong, setWrong] = useState("");
  const needed = new Set(parameters.required || []);
  const properties = Object.entries(parameters.properties || {});
  const call = (event) => {
    event.preventDefault();
    try {
      setWrong("");
      const made = raw === null ? collect(parameters, fields) : JSON.parse(raw);
      onCall(made);
    } catch (error) {
      setWrong(raw === null ? error.message : "These arguments are no JSON.");
    }
  };
  const turnOver = () => {
    if (raw !== null) {
      setRaw(null);
      return;
    }
    let made = {};
    try {
      made = collect(parameters, fields);
    } catch {
      made = {};
    }
    setRaw(JSON.stringify(made, null, 2));
  };
  return html`<form class="try" onSubmit=${call} novalidate>
    ${raw === null
      ? properties.length
        ? properties.map(([name, schema]) => html`<${Field} key=${name} name=${name} schema=${schema} needed=${needed.has(name)} value=${fields[name] ?? ""} onValue=${(value) => setFields({ ...fields, [name]: value })} />`)
        : html`<p class="quiet">It takes no arguments.</p>`
      : html`<div class="field"><label for="field-raw">Arguments as JSON</label><textarea id="field-raw" class="code" rows="6" spellcheck="false" value=${raw} onInput=${(event) => setRaw(event.target.value)}></textarea></div>`}
    ${wrong && html`<p class="wrong" role="alert">${wrong}</p>`}
    <div class="buttons"><button class="primary" disabled=${busy}>${busy ? "Running…" : "Run it"}</button><button type="button" class="link" onClick=${turnOver}>${raw === null ? "Write JSON instead" : "Back to the form"}</button></div>
  </form>`;
}
