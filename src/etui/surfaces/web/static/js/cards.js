// Cards: what a call waits for a person's word on, shown with exactly what will run.
// Above: the chat and, on other pages, the tray. Below: `text`, `state`. It refuses to know: what the answer does.

import { html, useLayoutEffect, useRef, useState } from "../vendor/htm-preact.js";
import { api, paths } from "./api.js";
import { Icon } from "./parts.js";
import { attempt } from "./state.js";
import { Arguments, Sentence, Words } from "./text.js";

export function Cards({ cards }) {
  if (!cards.length) return null;
  return html`<section class="cards" aria-label="Questions for you">${cards.map((card) => html`<${Card} key=${card.id} card=${card} />`)}</section>`;
}

// A box that says so when it holds more than it shows, and opens up.
function Whole({ children }) {
  const box = useRef(null);
  const [hidden, setHidden] = useState(false);
  const [open, setOpen] = useState(false);
  useLayoutEffect(() => {
    if (!open) setHidden(box.current.scrollHeight > box.current.clientHeight + 2);
  });
  useLayoutEffect(() => {
    // The card has grown: its buttons stay in sight.
    if (hidden && !open) box.current.closest(".card").scrollIntoView({ block: "nearest" });
  }, [hidden]);
  return html`<div class=${`whole ${hidden && !open ? "cut-off" : ""}`}>
    <div ref=${box} class=${`card-args ${open ? "open" : ""}`} role="region" tabindex="0" aria-label="The exact arguments">${children}</div>
    ${hidden && !open && html`<button type="button" class="link" onClick=${() => setOpen(true)}>There is more: show all of it</button>`}
  </div>`;
}

function Card({ card }) {
  const [busy, setBusy] = useState(false);
  const [text, setText] = useState("");
  const say = async (choice) => {
    setBusy(true);
    await attempt(() => api.post(paths.card(card.id), { choice }));
    setBusy(false);
  };
  const approval = card.kind === "approval";
  const box = useRef(null);
  useLayoutEffect(() => {
    // What is typed next is the answer, unless a sentence was begun.
    const { activeElement: now } = document;
    if (box.current && (now === document.body || (now?.id === "say" && !now.value))) box.current.focus({ preventScroll: true });
  }, []);
  return html`<article class=${`card ${card.kind} risk-${card.risk || "none"}`} role="group" aria-labelledby=${`card-${card.id}`}>
    <header>
      <span class="card-sign"><${Icon} name=${approval ? "lock" : "chat"} /></span>
      <div>
        <h3 id=${`card-${card.id}`}><${Words} text=${card.question} /></h3>
        ${approval && html`<p class="quiet"><${Sentence} text=${card.reason} /> It is from the plugin ${card.plugin}.</p>`}
        ${!approval && card.tool && html`<p class="quiet">${card.tool} is waiting for your answer.</p>`}
      </div>
    </header>
    ${approval && html`<${Whole}><${Arguments} value=${card.arguments} /></${Whole}>`}
    ${approval
      ? html`<div class="buttons">
          <button type="button" class="primary" disabled=${busy} onClick=${() => say("approve")}>Approve</button>
          <button type="button" disabled=${busy} onClick=${() => say("always_call")}>Always for this exact call</button>
          <button type="button" disabled=${busy} onClick=${() => say("always_tool")}>Always for this tool here</button>
          <button type="button" class="danger" disabled=${busy} onClick=${() => say("decline")}>Decline</button>
        </div>`
      : html`<form class="buttons" onSubmit=${(event) => { event.preventDefault(); if (text.trim()) say(text.trim()); }}>
          ${card.choices?.length
            ? card.choices.map((choice) => html`<button key=${choice} type="button" disabled=${busy} onClick=${() => say(choice)}><${Words} text=${choice} /></button>`)
            : html`<input ref=${box} aria-label="Your answer" value=${text} onInput=${(event) => setText(event.target.value)} autocomplete="off" /><button class="primary" disabled=${busy || !text.trim()}>Answer</button>`}
          <button type="button" class="danger" disabled=${busy} onClick=${() => say("decline")}>Decline</button>
        </form>`}
  </article>`;
}
