// Cards: what a call waits for a person's word on, shown with exactly what will run.
// Above: the chat and, on other pages, the frame. Below: `text`, `state`. It refuses to know: what the answer does.

import { html, useLayoutEffect, useRef, useState } from "../vendor/htm-preact.js";
import { api, paths } from "./api.js";
import { Icon } from "./parts.js";
import { attempt, state } from "./state.js";
import { Arguments, Exact, Sentence, Words, safeLink } from "./text.js";

export function Cards({ cards }) {
  if (!cards.length) return null;
  return html`<section class="cards" aria-label="Questions for you">${cards.map((card) => html`<${Card} key=${card.id} card=${card} />`)}</section>`;
}

// On a page without a chat: the oldest question over it, the others counted, and all of them put aside until the next one comes.
export function Tray({ cards }) {
  const newest = cards.at(-1)?.id;
  const [aside, setAside] = useState("");
  const box = useRef(null);
  const turn = (to) => {
    setAside(to);
    // The button that was pressed is gone; the one in its place has the keyboard.
    requestAnimationFrame(() => box.current?.querySelector("button")?.focus({ preventScroll: true }));
  };
  if (!cards.length) return null;
  const more = cards.length - 1;
  if (aside === newest) return html`<div class="tray" ref=${box}><button type="button" class="tray-fold" onClick=${() => turn("")}><${Icon} name="chat" />${more ? `${cards.length} questions wait` : "A question waits"}</button></div>`;
  return html`<div class="tray" ref=${box}>
    <p class="tray-head"><span>${more ? `1 of ${cards.length} questions` : "A question for you"}</span><button type="button" class="link" onClick=${() => turn(newest)}>Later</button></p>
    <${Cards} cards=${cards.slice(0, 1)} />
  </div>`;
}

const home = (card) => state.chats.find((one) => one.id === card.chat);

// What belongs to no chat that is listed stands in any of them.
export function homeless(cards) {
  return cards.filter((card) => !home(card));
}

// What other chats ask is one line that leads to the oldest of them.
export function Elsewhere({ cards }) {
  const away = cards.filter(home);
  if (!away.length) return null;
  const [card] = away;
  return html`<a class="elsewhere" href=${`#/chat/${encodeURIComponent(card.chat)}`}><${Icon} name="chat" /><span><strong><${Words} text=${card.question} /></strong> waits in <${Words} text=${home(card).title || "New chat"} /></span>${away.length > 1 && html`<span class="count">${away.length}</span>`}</a>`;
}

// What a typed line says to an open question; nothing where it is none of its choices.
export function answerOf(card, said) {
  if (!card.choices?.length) return said;
  return card.choices.find((choice) => choice.toLowerCase() === said.toLowerCase());
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

const SIGNS = { approval: "lock", link: "send" };

function Card({ card }) {
  const [busy, setBusy] = useState(false);
  const say = async (choice) => {
    setBusy(true);
    await attempt(() => api.post(paths.card(card.id), { choice }));
    setBusy(false);
  };
  const approval = card.kind === "approval";
  return html`<article class=${`card ${card.kind} risk-${card.risk || "none"}`} role="group" aria-labelledby=${`card-${card.id}`}>
    <header>
      <span class="card-sign"><${Icon} name=${SIGNS[card.kind] || "chat"} /></span>
      <div>
        <h3 id=${`card-${card.id}`}><${Words} text=${card.question} /></h3>
        ${approval && html`<p class="quiet"><${Sentence} text=${card.reason} />${card.plugin && html` It is from the plugin ${card.plugin}.`}</p>`}
        ${card.kind === "question" && card.tool && html`<p class="quiet">${card.tool} is waiting for your answer.</p>`}
      </div>
    </header>
    ${card.notice && html`<p class="card-notice"><${Sentence} text=${card.notice} /></p>`}
    ${approval && html`<${Whole}>${card.action ? html`<pre class="value card-line"><${Exact} text=${card.action} /></pre>` : html`<${Arguments} value=${card.arguments} />`}</${Whole}>`}
    ${card.detail && html`<p class="quiet card-detail"><${Sentence} text=${card.detail} /></p>`}
    ${approval ? html`<${Approval} card=${card} busy=${busy} say=${say} />` : card.kind === "link" ? html`<${Link} card=${card} busy=${busy} say=${say} />` : html`<${Question} card=${card} busy=${busy} say=${say} />`}
  </article>`;
}

function Approval({ card, busy, say }) {
  const words = { always_call: `Always for this exact ${card.action ? "line" : "call"}`, always_tool: "Always for this tool here", always_family: html`Always for <${Words} text=${card.family} />` };
  return html`<div class="buttons">
    <button type="button" class="primary" disabled=${busy} onClick=${() => say("approve")}>Approve</button>
    ${(card.always || []).filter((one) => words[one]).map((one) => html`<button key=${one} type="button" disabled=${busy} onClick=${() => say(one)}>${words[one]}</button>`)}
    <button type="button" class="danger" disabled=${busy} onClick=${() => say("decline")}>Decline</button>
  </div>`;
}

// Where it leads is read before it is opened.
function Link({ card, busy, say }) {
  const url = safeLink(card.url);
  return html`<p class="card-link"><code><${Exact} text=${card.url} /></code></p>
    <div class="buttons">
      ${url ? html`<a class="button primary" href=${url} target="_blank" rel="noopener noreferrer nofollow" onClick=${() => say("approve")}>Open it</a>` : html`<span class="quiet">This is no address of the web, so it is not opened from here.</span>`}
      <button type="button" disabled=${busy} onClick=${() => say("dismiss")}>Put it away</button>
    </div>`;
}

function Question({ card, busy, say }) {
  const [text, setText] = useState("");
  const box = useRef(null);
  useLayoutEffect(() => {
    // What is typed next is the answer, unless a sentence was begun.
    const { activeElement: now } = document;
    if (box.current && (now === document.body || (now?.id === "say" && !now.value))) box.current.focus({ preventScroll: true });
  }, []);
  const send = (event) => {
    event.preventDefault();
    const answer = card.secret ? text : text.trim();
    if (answer) say(answer);
  };
  return html`<form class="buttons" onSubmit=${send}>
    ${card.choices?.length
      ? card.choices.map((choice) => html`<button key=${choice} type="button" disabled=${busy} onClick=${() => say(choice)}><${Words} text=${choice} /></button>`)
      : html`<input ref=${box} type=${card.secret ? "password" : "text"} aria-label="Your answer" value=${text} onInput=${(event) => setText(event.target.value)} autocomplete=${card.secret ? "new-password" : "off"} /><button class="primary" disabled=${busy || !text.trim()}>Answer</button>`}
    <button type="button" class="danger" disabled=${busy} onClick=${() => say("decline")}>Decline</button>
  </form>`;
}
