// Reminders, the audit, and what is held here: the quieter pages.
// Above: `main`. Below: `state`, `steps`. It refuses to know: how any of it is kept.

import { html, useEffect, useState } from "../vendor/htm-preact.js";
import { api, paths } from "./api.js";
import { ENDS, Empty, Icon, Page, Switch } from "./parts.js";
import { attempt, change, state } from "./state.js";
import { Step } from "./steps.js";
import { Exact, Sentence, Words } from "./text.js";

const KINDS = { timer: "Timer", alarm: "Alarm", reminder: "Reminder" };

export function Reminders() {
  const [now, setNow] = useState(Date.now() / 1000);
  useEffect(() => {
    const beat = setInterval(() => setNow(Date.now() / 1000), 1000);
    return () => clearInterval(beat);
  }, []);
  const rows = [...state.reminders].sort((one, other) => one.due - other.due);
  const cancel = async (id) => {
    if (await attempt(() => api.remove(paths.reminder(id)))) change({ reminders: state.reminders.filter((one) => one.id !== id) });
  };
  return html`<${Page} title="Reminders" lead="Timers, alarms and reminders that are still to come. They outlive a restart.">
    ${rows.length
      ? html`<ul class="due">${rows.map((one) => html`<li key=${one.id}>
          <span class="due-in">${until(one.due - now)}</span>
          <div class="due-what"><strong><${Words} text=${named(one)} /></strong>
            <span class="quiet">${KINDS[one.kind] || one.kind} · ${when(one)}${one.repeat ? `, ${one.repeat}` : ""}</span></div>
          <button type="button" aria-label=${`Cancel ${named(one)}`} onClick=${() => cancel(one.id)}>Cancel</button>
        </li>`)}</ul>`
      : html`<${Empty} title="Nothing is coming up"><p>Say “set a timer for ten minutes” in a <a href="#/chat">chat</a>, and it stands here until it speaks up.</p></${Empty}>`}
    ${state.schedules.length > 0 && html`<${Schedules} rows=${state.schedules} now=${now} />`}
  </${Page}>`;
}

// What plugins run by the clock, or when something happens; each can be switched off, and what a plugin made itself be taken back.
function Schedules({ rows, now }) {
  const flip = async (one, on) => {
    const left = await attempt(() => api.patch("/api/schedules", { id: one.id, on }));
    if (left) change({ schedules: left });
  };
  const remove = async (one) => {
    const left = await attempt(() => api.remove("/api/schedules", { id: one.id }));
    if (left) change({ schedules: left });
  };
  return html`<section class="schedules" aria-labelledby="schedules"><h2 id="schedules">Schedules</h2>
    <p class="quiet">What plugins do by themselves, at a time or when something happens.</p>
    <ul class="due">${rows.map((one) => html`<li key=${one.id}>
      <span class="due-in">${one.due ? until(one.due - now) : one.on && one.event ? "waits" : "off"}</span>
      <div class="due-what"><strong><${Words} text=${one.name} /></strong>
        ${one.text && one.text !== one.name && html`<span><${Words} text=${one.text} /></span>`}
        <span class="quiet"><${Words} text=${one.plugin} /> · ${one.event ? html`at the event <code><${Exact} text=${one.event} /></code>` : html`<code><${Exact} text=${one.cron} /></code>`}${one.once ? " · once" : ""}</span></div>
      <${Switch} on=${one.on} label=${`${one.name} of ${one.plugin} is ${one.on ? "on" : "off"}`} onChange=${(on) => flip(one, on)} />
      ${one.kind === "task" && html`<button type="button" aria-label=${`Delete ${one.name}`} onClick=${() => remove(one)}>Delete</button>`}
    </li>`)}</ul></section>`;
}

// "Pasta timer" for a timer with the label "pasta"; a reminder's own words say it all.
function named({ label, text, kind }) {
  if (kind !== "timer" && kind !== "alarm") return label || text || KINDS[kind] || kind;
  if (!label) return KINDS[kind];
  return label.toLowerCase().includes(kind) ? label : `${label} ${kind}`;
}

// By the clock that it was set by, which is named where it is not this browser's.
export function when({ due, zone, kind }) {
  const at = new Date(due * 1000);
  const how = { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" };
  const here = at.toLocaleString([], how);
  if (!zone || kind === "timer") return here;
  try {
    const there = at.toLocaleString([], { ...how, timeZone: zone });
    return there === here ? here : `${there} · ${zone}`;
  } catch {
    return here; // A zone that this browser does not know.
  }
}

function until(left) {
  if (left <= 0) return "now";
  const [days, hours, minutes, rest] = [Math.floor(left / 86400), Math.floor(left / 3600) % 24, Math.floor(left / 60) % 60, Math.floor(left) % 60];
  if (days) return `${days} d ${hours} h`;
  if (hours) return `${hours} h ${minutes} min`;
  return `${minutes}:${String(rest).padStart(2, "0")}`;
}

export function Audit() {
  const [entries, setEntries] = useState(null);
  const [more, setMore] = useState(false);
  const [tool, setTool] = useState("");
  const [status, setStatus] = useState("");
  const [what, setWhat] = useState("calls");
  const ask = async (before = "") => {
    const query = new URLSearchParams({ limit: "50", ...(tool && { tool }), ...(status && { status }), ...(before && { before }) });
    const given = await attempt(() => api.get(`/api/audit?${query}`));
    if (!given) return;
    setEntries((known) => (before ? [...(known || []), ...given.entries] : given.entries));
    setMore(given.more ? given.next : "");
  };
  useEffect(() => {
    ask();
  }, [tool, status, state.auditAt]);
  const names = [...new Set([...state.tools.map((one) => one.name), ...(entries || []).map((one) => one.tool)])].sort();
  return html`<${Page} title="Audit" lead="Every call, from every surface: who asked, what ran, how it ended. Secrets are masked.">
    <div class="filters">
      <div><label for="audit-what">Show</label><select id="audit-what" value=${what} onChange=${(event) => setWhat(event.target.value)}><option value="calls">every call</option><option value="actions">what was done and decided</option></select></div>
      ${what === "calls" && html`<div><label for="audit-tool">Tool</label><select id="audit-tool" value=${tool} onChange=${(event) => setTool(event.target.value)}><option value="">all</option>${names.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}</select></div>`}
      ${what === "calls" && html`<div><label for="audit-end">End</label><select id="audit-end" value=${status} onChange=${(event) => setStatus(event.target.value)}><option value="">all</option>${Object.entries(ENDS).map(([key, [, words]]) => html`<option key=${key} value=${key}>${words}</option>`)}</select></div>`}
    </div>
    ${what === "actions" ? html`<${Actions} />` : entries === null ? html`<p class="quiet">Looking…</p>` : entries.length ? html`<ul class="steps audit">${entries.map((one) => html`<li key=${one.call}><${Step} step=${one} when=${true} /></li>`)}</ul>` : html`<${Empty} title="Nothing here"><p>${tool || status ? "No call matches." : "No tool was called yet."}</p></${Empty}>`}
    ${what === "calls" && more && html`<div class="buttons"><button type="button" onClick=${() => ask(String(more))}>Older calls</button></div>`}
  </${Page}>`;
}

function Actions() {
  const [rows, setRows] = useState(null);
  const [next, setNext] = useState(null);
  const ask = async (before) => {
    const given = await attempt(() => api.get(`/api/actions?limit=50${before ? `&before=${before}` : ""}`));
    if (!given) return;
    setRows((known) => (before ? [...(known || []), ...given.actions] : given.actions));
    setNext(given.next);
  };
  useEffect(() => {
    ask();
  }, [state.auditAt]);
  if (rows === null) return html`<p class="quiet">Looking…</p>`;
  if (!rows.length) return html`<${Empty} title="Nothing here"><p>Nothing was done yet: calls that only read are no actions.</p></${Empty}>`;
  return html`<ul class="due">${rows.map((one) => html`<li key=${`${one.call} ${one.detail} ${one.at}`}>
      <div class="due-what"><code><${Exact} text=${one.action} /></code>
      <span class="quiet">${new Date(one.at * 1000).toLocaleString()} · ${one.risk} · ${one.detail}${one.detail === "decision" && (one.approved ? ": yes" : ": no")}. ${one.authority}</span></div>
    </li>`)}</ul>
    ${next && html`<div class="buttons"><button type="button" onClick=${() => ask(next)}>Older ones</button></div>`}`;
}

export function About() {
  const [report, setReport] = useState(null);
  const [link, setLink] = useState("");
  useEffect(() => {
    attempt(() => api.get("/api/doctor")).then((given) => given && setReport(given));
  }, []);
  const make = async () => {
    const made = await attempt(() => api.post("/api/links"));
    if (made) setLink(location.origin + made.path);
  };
  const leave = async () => {
    if (await attempt(() => api.post("/api/logout"))) change({ phase: "signin" });
  };
  const { enforced = {}, workers = [], tools_run_in: place = "", ...rest } = report || {};
  return html`<${Page} title="About" lead="What holds your tools to what they declare, on this machine.">
    ${report ? html`<${Held} enforced=${enforced} /><${Workers} workers=${workers} place=${place} /><${Report} value=${rest} />` : html`<p class="quiet">Asking…</p>`}
    <section class="part"><h3>This browser</h3><p>A sign-in link works once, and for whoever opens it first.</p>
      <div class="buttons"><button type="button" onClick=${make}>Make a sign-in link</button><button type="button" onClick=${leave}>Sign this browser out</button></div>
      ${link && html`<p class="where"><code>${link}</code></p>`}</section>
  </${Page}>`;
}

const LIMITS = [
  ["files", "Writing files"],
  ["reads", "Reading files"],
  ["network", "Opening connections"],
  ["subprocess", "Starting programs"],
  ["memory", "Memory"],
];
const HOLDERS = { kernel: "held by the kernel", rlimit: "held by a limit of the system", none: "not held here: a tool's word is all there is" };

function Held({ enforced }) {
  const loose = LIMITS.filter(([name]) => name !== "memory" && (enforced[name] ?? "none") === "none");
  return html`<section class="part"><h3>What is held</h3>
    <p class=${`enforced ${loose.length ? "no" : "yes"}`}>${loose.length ? "This machine cannot hold tools to everything they declare, so Etui asks you before such a tool runs." : "A tool that does more than it declares is stopped, whatever its code says."}</p>
    <dl class="facts">${LIMITS.map(([name, words]) => html`<div key=${name}><dt>${words}</dt><dd class=${(enforced[name] ?? "none") === "none" ? "no" : "yes"}>${HOLDERS[enforced[name] ?? "none"] || enforced[name]}</dd></div>`)}</dl></section>`;
}

function Workers({ workers, place }) {
  return html`<section class="part"><h3>Processes</h3>${place && html`<p>Tools run in <${Sentence} text=${place} />.</p>`}${workers.length
    ? html`<table class="schema"><thead><tr><th scope="col">Plugin</th><th scope="col">Process</th><th scope="col">Memory</th><th scope="col">Calls under way</th></tr></thead><tbody>${workers.map((one) => html`<tr key=${one.pid}><th scope="row">${one.plugin}${one.leaving ? html` <span class="badge soft">leaving</span>` : ""}</th><td>${one.pid}</td><td>${one.memory ? `${Math.round(one.memory / 1048576)} MB` : ""}</td><td>${one.calls ?? 0}</td></tr>`)}</tbody></table>`
    : html`<p class="quiet">No plugin runs right now; each starts in a process of its own at its first call.</p>`}</section>`;
}

function title(name) {
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// Any report: facts as rows, lists as lists, yes and no with a mark.
function Report({ value }) {
  const entries = Object.entries(value);
  const facts = entries.filter(([, one]) => !isDeep(one));
  const deep = entries.filter(([, one]) => isDeep(one));
  return html`${facts.length > 0 && html`<dl class="facts">${facts.map(([name, one]) => html`<div key=${name}><dt>${title(name)}</dt><dd><${Fact} value=${one} /></dd></div>`)}</dl>`}
    ${deep.map(([name, one]) => html`<section class="part" key=${name}><h3>${title(name)}</h3>${Array.isArray(one) ? html`<ul class="facts-list">${one.map((item, index) => html`<li key=${index}>${isDeep(item) ? html`<${Report} value=${item} />` : html`<${Fact} value=${item} />`}</li>`)}</ul>` : html`<${Report} value=${one} />`}</section>`)}`;
}

function isDeep(value) {
  return value !== null && typeof value === "object" && (Array.isArray(value) ? value.length > 0 : Object.keys(value).length > 0);
}

function Fact({ value }) {
  if (value === true) return html`<span class="yes"><${Icon} name="spark" />yes</span>`;
  if (value === false) return html`<span class="no">no</span>`;
  if (value === null || value === "" || (typeof value === "object" && value)) return html`<span class="quiet">none</span>`;
  return html`<${Sentence} text=${String(value)} />`;
}
