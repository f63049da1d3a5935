// Questions that a result asks with buttons; the answers are said as the person's next message.
// Above: the chat and a call's page. Below: `marks`, `state`, `text`. It refuses to know: who asks, and what becomes of an answer.
// A card is drawn whole and within its limits, or not at all; one that is answered, or no longer the last word, is only read.

import { html, useState } from "../vendor/htm-preact.js";
import { api, paths } from "./api.js";
import { marks } from "./marks.js";
import { attempt } from "./state.js";
import { Words, line } from "./text.js";

// The questions of a mark, cut as they may be drawn; null for a card that is none.
export function asked(mark) {
  const questions = Array.isArray(mark?.questions) ? mark.questions : [];
  if (questions.length < 1 || questions.length > 4) return null;
  const found = questions.map((one) => {
    const options = Array.isArray(one?.options) ? one.options : [];
    const labels = options.map((option) => ({ label: line(option?.label, 80), description: line(option?.description, 200) }));
    const sound = labels.length >= 2 && labels.length <= 6 && labels.every((option) => option.label);
    const question = line(one?.question, 300);
    return sound && question ? { question, header: line(one.header, 16), many: one.multi_select === true, options: labels } : null;
  });
  return found.every(Boolean) ? found : null;
}

// The answers as they are said: a line for each question.
export function answers(questions, chosen) {
  return questions
    .map(({ question, options }, index) => `${question} → ${[...chosen[index]].sort().map((one) => options[one].label).join(", ")}`)
    .join("\n");
}

// The cards of these calls' results; `open` says that they may be answered now.
export function Questions({ steps, open = false }) {
  return (steps || []).flatMap((step) =>
    marks(step.shown).asks.map((mark, index) => {
      const questions = asked(mark);
      return questions && html`<${Ask} key=${`${step.call}-${index}`} questions=${questions} tool=${step.tool} chat=${step.chat} open=${Boolean(open && step.chat)} />`;
    }),
  );
}

function Ask({ questions, tool, chat, open }) {
  const [chosen, setChosen] = useState(questions.map(() => new Set()));
  const [said, setSaid] = useState(false);
  const usable = open && !said;
  const single = questions.length === 1 && !questions[0].many;
  const send = async (picked) => {
    setSaid(true);
    if (!(await attempt(() => api.post(`${paths.chat(chat)}/say`, { text: answers(questions, picked) })))) setSaid(false);
  };
  const pick = (index, option) => {
    const picked = chosen.map((one, at) => {
      if (at !== index) return one;
      if (!questions[index].many) return new Set([option]);
      const next = new Set(one);
      if (!next.delete(option)) next.add(option);
      return next;
    });
    setChosen(picked);
    if (single) send(picked);
  };
  return html`<section class="ask" aria-label=${`Questions of ${tool}`}>
    <p class="quiet">${tool} asks you:</p>
    ${questions.map(
      ({ question, header, many, options }, index) => html`<fieldset key=${index} disabled=${!usable}>
        <legend>${header && html`<span class="badge"><${Words} text=${header} /></span>`}<${Words} text=${question} /></legend>
        ${many && html`<p class="quiet">Any number of these.</p>`}
        <div class="options">${options.map(
          ({ label, description }, option) => html`<button key=${option} type="button" class="option" aria-pressed=${chosen[index].has(option) ? "true" : "false"} onClick=${() => pick(index, option)}><span class="option-label"><${Words} text=${label} /></span>${description && html`<span class="quiet"><${Words} text=${description} /></span>`}</button>`,
        )}</div>
      </fieldset>`,
    )}
    ${usable && !single && html`<div class="buttons"><button type="button" class="primary" disabled=${chosen.some((one) => !one.size)} onClick=${() => send(chosen)}>Send ${questions.length > 1 ? "these answers" : "this answer"}</button></div>`}
  </section>`;
}
