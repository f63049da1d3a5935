// Steps: each call that a turn made, one line each, with everything about it behind it.
// Above: the chat, a tool's page, the audit. Below: `text`, `parts`, `state`. It refuses to know: who made the call.

import { html, useState } from "../vendor/htm-preact.js";
import { api, paths } from "./api.js";
import { Files } from "./files.js";
import { Gallery, Pictures } from "./gallery.js";
import { marks, words } from "./marks.js";
import { ENDS, Icon, Mark, ending } from "./parts.js";
import { Questions } from "./questions.js";
import { routeName, attempt } from "./state.js";
import { Arguments, Folded, Words, brief, clock, seconds } from "./text.js";

function summary(value) {
  let given = value;
  if (typeof value === "string") {
    try {
      given = JSON.parse(value);
    } catch {
      return brief(value, 70);
    }
  }
  if (given === null || typeof given !== "object" || Array.isArray(given)) return brief(given, 70);
  return brief(Object.entries(given).map(([name, one]) => `${name}: ${typeof one === "string" ? one : JSON.stringify(one)}`).join(", "), 70);
}

// Of more steps than this only the last few show at first.
const MANY = 12;
const LAST = 6;

// `said`: the answer above them, whose words no step says again.
export function Steps({ steps, open = false, when = false, said = "" }) {
  const [all, setAll] = useState(false);
  if (!steps?.length) return null;
  const before = all || steps.length <= MANY ? 0 : steps.length - LAST;
  const wrong = steps.slice(0, before).filter((one) => isBad(one.status)).length;
  return html`${before > 0 && html`<button type="button" class="link earlier" onClick=${() => setAll(true)}>Show the ${before} steps before${wrong ? `, ${wrong} of which went wrong` : ""}</button>`}
  <ul class="steps" aria-label="Steps">${steps.slice(before).map((step) => html`<li key=${step.call}><${Step} step=${step} open=${open} when=${when} said=${said} /></li>`)}</ul>`;
}

export function Step({ step, open, when, said = "" }) {
  const why = reason(step);
  return html`<details class=${`step is-${step.status}`} open=${open} onToggle=${(event) => event.currentTarget.open && event.currentTarget.scrollIntoView({ block: "nearest" })}>
    <summary>
      <${Mark} status=${step.status} mark=${step.mark} />
      <span class="step-name">${step.tool}</span>
      ${step.risk && step.risk !== "read" && html`<span class=${`risk ${step.risk}`}>${step.risk}</span>`}
      <span class="step-args"><${Words} text=${summary(step.arguments)} /></span>
      <span class="step-time">${when && step.started ? html`<time>${clock(step.started)}</time> · ` : ""}<span class="step-end">${ending(step.status)}</span>${step.seconds ? html` · ${seconds(step.seconds)}` : ""}</span>
      ${why && !said.replace(/\s+/g, " ").includes(why.replace(/…$/, "")) && html`<span class="step-why"><${Words} text=${why} /></span>`}
      ${step.progress && step.status === "running" && html`<${Progress} progress=${step.progress} />`}
    </summary>
    <div class="step-more">
      <h4>Arguments</h4>
      <${Arguments} value=${step.arguments} />
      <${Result} outcome=${step} whole=${when} />
      ${step.undo && html`<${Undo} undo=${step.undo} />`}
      ${step.plugin && html`<p class="quiet">Plugin ${step.plugin}${step.channel ? html`, asked from ${step.channel}` : ""} · <a href=${`#/tools/${encodeURIComponent(step.tool)}`}>Open this tool</a></p>`}
    </div>
  </details>`;
}

// One line on why a step did not go well, as its tool puts it or as its row does; the rest is behind it.
function reason({ status, why, line, shown, text }) {
  if (status === "ok" || status === "running") return "";
  const told = String(line || words(shown) || text || "").trim().replace(/^! /, "").split("\n")[0];
  return brief((isBad(status) && why) || told, 160);
}

function isBad(status) {
  return ENDS[status]?.[2] === "bad";
}

function Undo({ undo }) {
  const [busy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState(null);
  const take = async () => {
    setBusy(true);
    setOutcome(await attempt(() => api.post(`${paths.tool(undo.tool)}/call`, { arguments: undo.arguments })));
    setBusy(false);
  };
  if (outcome) return html`<p role="status"><${Mark} status=${outcome.status} />${" "}<${Words} text=${words(outcome.shown) || outcome.text} /></p>`;
  return html`<div class="buttons"><button type="button" disabled=${busy} onClick=${take}>Undo this</button></div>`;
}

function Progress({ progress }) {
  const known = typeof progress.fraction === "number";
  return html`<span class="progress"><progress max="1" value=${known ? progress.fraction : undefined}></progress><span><${Words} text=${progress.text || ""} /></span></span>`;
}

// How a call ended: in words, with images and files, and as a `whole` with what else its marks show.
export function Result({ outcome, whole = true }) {
  if (!outcome.status || outcome.status === "running") return null;
  const text = words(outcome.shown) || outcome.text;
  return html`<h4>${outcome.status === "ok" ? "Result" : `It ${outcome.status === "needs_approval" ? "" : "was "}${ending(outcome.status)}`.replace("was failed", "failed").replace("was took", "took").replace("was crashed", "crashed").replace("was may", "may").replace("was done", "is done")}${outcome.rule ? html` <span class="rule">rule: ${outcome.rule}</span>` : ""}</h4>
    ${text ? html`<div class="result"><${Folded} text=${text} draw=${(shown) => html`<${Words} text=${shown} />`} /></div>` : html`<p class="quiet">No words came back.</p>`}
    ${outcome.why && isBad(outcome.status) && html`<p class="quiet">What went wrong: <${Words} text=${outcome.why} /></p>`}
    <${Pieces} images=${outcome.images} files=${outcome.files} />
    ${whole && html`<${Galleries} steps=${[outcome]} /><${Files} steps=${[outcome]} /><${Questions} steps=${[outcome]} />`}
    ${outcome.reference && html`<p class="quiet">Reference ${outcome.reference}: the audit has the details.</p>`}
    ${outcome.detail && html`<details class="detail"><summary>For the owner</summary><pre><${Folded} text=${outcome.detail} draw=${(shown) => html`<${Words} text=${shown} />`} /></pre></details>`}`;
}

// The rows of tiles that these calls' results hold.
export function Galleries({ steps }) {
  return (steps || []).flatMap((step) => marks(step.shown).galleries.map((mark, index) => html`<${Gallery} key=${`${step.call}-${index}`} mark=${mark} at=${{ chat: step.chat, call: step.call, owner: routeName(step.plugin) }} />`));
}

export function Pieces({ images = [], files = [] }) {
  const pictures = (images || []).map((one) => (typeof one === "string" ? { id: one } : one)).filter((one) => one?.id);
  const papers = (files || []).map((one) => (typeof one === "string" ? { id: one } : one)).filter((one) => one?.id);
  if (!pictures.length && !papers.length) return null;
  return html`<div class="pieces">
    <${Pictures} items=${pictures.map((one) => ({ src: paths.blob(one.id), alt: one.alt, withheld: one.withheld }))} />
    ${papers.map((one) => html`<a key=${one.id} class="paper" href=${paths.blob(one.id)} download=${one.name || "file"}><${Icon} name="file" />${one.name || "file"}</a>`)}
  </div>`;
}
