// A plan and its steps, and the background jobs of a chat with theirs: what goes on beside the conversation.
// Above: the chat. Below: `state`, `steps`, `text`. It refuses to know: who works on it, and how.

import { html, useEffect, useState } from "../vendor/htm-preact.js";
import { api, paths } from "./api.js";
import { Mark } from "./parts.js";
import { attempt, state } from "./state.js";
import { Steps } from "./steps.js";
import { Folded, Words, seconds } from "./text.js";

const STANDS = {
  done: ["✓", "done"],
  completed: ["✓", "done"],
  in_progress: ["▸", "under way"],
  active: ["▸", "under way"],
  blocked: ["!", "held up"],
  failed: ["!", "failed"],
  cancelled: ["–", "dropped"],
  skipped: ["–", "dropped"],
};

export function Plan({ plan }) {
  const tasks = Array.isArray(plan?.tasks) ? [...plan.tasks].sort((one, other) => (one.order ?? 0) - (other.order ?? 0)) : [];
  if (!tasks.length) return null;
  const done = tasks.filter((one) => STANDS[one.status]?.[1] === "done").length;
  return html`<section class="plan" aria-label="Plan">
    <h3><${Words} text=${plan.title || "Plan"} /> <span class="quiet">${done} of ${tasks.length}</span></h3>
    <ol>${tasks.map((one, index) => {
      const [sign, words] = STANDS[one.status] || ["○", "to do"];
      return html`<li key=${one.order ?? index} class=${`task is-${words.replace(" ", "-")}`}><span class="task-sign" aria-hidden="true">${sign}</span><span><${Words} text=${one.text || ""} /><span class="sr">, ${words}</span></span></li>`;
    })}</ol>
  </section>`;
}

// The jobs of this chat that run; one that is over is told in the conversation.
export function Jobs({ chat }) {
  const mine = state.jobs.filter((one) => one.chat === chat && one.state === "running");
  if (!chat || !mine.length) return null;
  return html`<section class="jobs" aria-label="Background jobs">${mine.map((one) => html`<${Job} key=${one.id} job=${one} />`)}</section>`;
}

function Job({ job }) {
  const [now, setNow] = useState(Date.now() / 1000);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    const beat = setInterval(() => setNow(Date.now() / 1000), 1000);
    return () => clearInterval(beat);
  }, []);
  const cancel = async () => {
    setBusy(true);
    await attempt(() => api.remove(paths.job(job.id)));
    setBusy(false);
  };
  const steps = state.live[job.id]?.steps || [];
  return html`<article class="job" role="group" aria-label=${`Background job: ${job.goal}`}>
    <header>
      <${Mark} status="running" />
      <div><strong><${Words} text=${job.goal} /></strong><span class="quiet">In the background${now - job.started >= 1 ? html` · ${seconds(Math.round(now - job.started))}` : ""}</span></div>
      <button type="button" class="danger" disabled=${busy} onClick=${cancel} aria-label=${`Cancel the background job ${job.goal}`}>Cancel</button>
    </header>
    ${steps.length > 0 && html`<details class="detail" open><summary>${counted(steps)}</summary><${Steps} steps=${steps} /></details>`}
  </article>`;
}

function counted(steps) {
  return steps.length === 1 ? "1 step" : `${steps.length} steps`;
}

const MARKS = { done: "ok", failed: "failed", cancelled: "cancelled", stopped: "cancelled" };

// How a job ended, in the conversation that it was started from, with its steps on demand.
export function JobNotice({ job, text }) {
  const [steps, setSteps] = useState(null);
  const known = state.jobs.find((one) => one.id === job);
  const [head, ...rest] = text.split("\n");
  const look = async (event) => {
    if (!event.currentTarget.open || steps) return;
    try {
      setSteps(Object.values((await api.get(`${paths.chat(job)}/messages`)).steps).flat());
    } catch {
      setSteps([]); // It was long ago, and is not kept any more.
    }
  };
  return html`<article class="job is-over" role="group" aria-label=${head}>
    <header><${Mark} status=${MARKS[known?.state] || "ok"} /><div><strong><${Words} text=${head} /></strong></div></header>
    ${rest.length > 0 && html`<div class="job-summary"><${Folded} text=${rest.join("\n")} draw=${(shown) => html`<${Words} text=${shown} />`} /></div>`}
    ${known && html`<details class="detail" onToggle=${look}><summary>Its steps</summary>${steps && (steps.length ? html`<${Steps} steps=${steps} />` : html`<p class="quiet">It called no tool.</p>`)}</details>`}
  </article>`;
}
