// The chat: what was said, what is being said, the steps under it, and the box to say more.
// Above: `main`. Below: `state`, `steps`, `cards`, `face`. It refuses to know: how an answer is made.

import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor/htm-preact.js";
import { api, paths } from "./api.js";
import { Cards, Elsewhere, answerOf, homeless } from "./cards.js";
import { Choices } from "./choices.js";
import { Face } from "./face.js";
import { Files } from "./files.js";
import { JobNotice, Jobs, Plan } from "./jobs.js";
import { Markdown } from "./markdown.js";
import { Confirm, Copy, Icon, Same } from "./parts.js";
import { Questions } from "./questions.js";
import { canSpeak, hush } from "./speech.js";
import { attempt, change, loadTalk, model, setting, state } from "./state.js";
import { Galleries, Pieces, Steps } from "./steps.js";
import { filled, parts, suggestions } from "./suggest.js";
import { Folded, Sentence, Words, clock } from "./text.js";

const LINE_NAMES = { timer: "Timer", alarm: "Alarm", reminder: "Reminder", notice: "Notice" };

export function Chat({ id }) {
  const talk = state.talks[id];
  const live = state.live[id];
  const lines = state.lines[id] || [];
  const fresh = !id || (talk && !talk.messages.length && !live && !lines.length);
  const [choosing, setChoosing] = useState(false);
  const near = useRef(true);
  const told = useRef(null);
  useEffect(() => {
    if (id && !state.talks[id]) loadTalk(id);
    near.current = true;
  }, [id]);
  useEffect(() => {
    // Only who scrolls up leaves the end: a picture that comes late moves it away without their doing.
    let before = 0;
    const look = () => {
      const page = document.scrollingElement;
      if (page.scrollHeight - page.scrollTop - page.clientHeight < 160) near.current = true;
      else if (page.scrollTop < before) near.current = false;
      before = page.scrollTop;
    };
    addEventListener("scroll", look, { passive: true });
    return () => removeEventListener("scroll", look);
  }, []);
  const follow = () => {
    if (near.current && !fresh) document.scrollingElement.scrollTop = document.scrollingElement.scrollHeight;
  };
  useLayoutEffect(follow);
  useEffect(() => {
    const talked = told.current;
    talked?.addEventListener("load", follow, true);
    return () => talked?.removeEventListener("load", follow, true);
  }, [fresh]);
  const chat = state.chats.find((one) => one.id === id);
  const mine = state.cards.filter((card) => card.chat === id && id);
  const others = state.cards.filter((card) => !mine.includes(card));
  return html`<div class=${`chat ${fresh ? "fresh" : ""}`}>
    <${Head} chat=${chat} working=${Boolean(live?.working && !live.ended)} choosing=${choosing} onChoose=${setChoosing} />
    ${choosing && chat && html`<${Choices} chat=${chat.id} onClose=${() => setChoosing(false)} />`}
    ${fresh
      ? html`<${Welcome} id=${id} />`
      : html`<div class="talk" ref=${told} role="log" aria-label="Conversation" aria-live="off">
          ${!talk && html`<p class="quiet loading">Opening the chat…</p>`}
          ${talk && html`<${Same} by=${[talk, live?.turn]} draw=${() => html`<${Told} talk=${talk} live=${live} />`} />`}
          ${live && html`<${Now} live=${live} talk=${talk} />`}
          ${lines.map((line) => html`<${Line} key=${line.key} line=${line} />`)}
        </div>`}
    ${id && html`<${Plan} plan=${state.tasks[id]} />`}
    <${Jobs} chat=${id} />
    <${Cards} cards=${[...homeless(others), ...mine]} />
    <${Composer} id=${id} live=${live && !live.ended ? live : null} cards=${mine} others=${others} fresh=${fresh} onSay=${() => (near.current = true)} />
  </div>`;
}

function Head({ chat, working, choosing, onChoose }) {
  const [naming, setNaming] = useState(false);
  const [asking, setAsking] = useState("");
  const box = useRef(null);
  useEffect(() => {
    setNaming(false);
    setAsking("");
  }, [chat?.id]);
  useEffect(() => {
    if (naming) box.current?.select();
  }, [naming]);
  const rename = async (event) => {
    event.preventDefault();
    const title = box.current.value.trim();
    setNaming(false);
    if (title && title !== chat.title) {
      const named = await attempt(() => api.patch(paths.chat(chat.id), { title }));
      if (named) change({ chats: state.chats.map((one) => (one.id === named.id ? named : one)) });
    }
  };
  const remove = async () => {
    setAsking("");
    const done = await attempt(() => api.remove(paths.chat(chat.id)));
    if (done) {
      change({ chats: state.chats.filter((one) => one.id !== chat.id) });
      location.hash = "#/chat";
    }
  };
  const clear = async () => {
    setAsking("");
    if (await attempt(() => api.post(`${paths.chat(chat.id)}/clear`))) {
      state.lines[chat.id] = [];
      loadTalk(chat.id);
    }
  };
  return html`<header class="chat-head">
    <${Face} ...${state.face} size="small" />
    ${naming
      ? html`<form class="naming" onSubmit=${rename}><input ref=${box} aria-label="Title of this chat" value=${chat.title} maxlength="200" onBlur=${rename} onKeyDown=${(event) => event.key === "Escape" && setNaming(false)} /></form>`
      : html`<h1 tabindex="-1">${chat ? html`<${Words} text=${chat.title || "New chat"} />` : "New chat"}${chat?.private ? html` <span class="badge">private</span>` : ""}</h1>`}
    <${Visitors} chat=${chat} />
    <span class="working" role="status">${working ? "Working" : ""}</span>
    ${chat && asking === "clear" && html`<${Confirm} title=${`Clear the chat “${chat.title || "New chat"}”?`} yes="Clear it" danger=${true} onYes=${clear} onNo=${() => setAsking("")}><p>Everything that was said in it is forgotten; what plugins keep for it stays.</p></${Confirm}>`}
    ${chat && asking === "delete" && html`<${Confirm} title=${`Delete the chat “${chat.title || "New chat"}”?`} yes="Delete it" danger=${true} onYes=${remove} onNo=${() => setAsking("")}><p>Everything in it goes with it.</p></${Confirm}>`}
    <div class="head-tools">
      ${chat && html`<button type="button" class="plain-button" title="Tools of this chat" aria-label="Tools of this chat" aria-pressed=${choosing ? "true" : "false"} onClick=${() => onChoose(!choosing)}><${Icon} name="case" /></button>
        <button type="button" class="plain-button" title="Rename this chat" aria-label="Rename this chat" onClick=${() => setNaming(true)}><${Icon} name="pen" /></button>
        <button type="button" class="plain-button" title="Clear this chat" aria-label="Clear this chat" onClick=${() => setAsking("clear")}><${Icon} name="rub" /></button>
        <button type="button" class="plain-button" title="Delete this chat" aria-label="Delete this chat" onClick=${() => setAsking("delete")}><${Icon} name="bin" /></button>`}
      ${canSpeak() && html`<button type="button" class="plain-button" aria-pressed=${setting("speak") ? "true" : "false"} title=${setting("speak") ? "Answers are spoken; stop speaking" : "Speak the answers"} aria-label="Speak the answers" onClick=${toggleSpeech}><${Icon} name=${setting("speak") ? "voice" : "mute"} /></button>`}
    </div>
  </header>`;
}

const TRUST = { full: "PIN given", possession: "a call to you", none: "no PIN yet" };

// Whoever is in this chat from somewhere else, and what they have proved.
function Visitors({ chat }) {
  const here = state.sessions.filter((one) => chat && one.chat === chat.id && !["console", "terminal", "python"].includes(one.channel));
  return here.map((one) => html`<span key=${one.id} class=${`badge trust-${one.trust}`}><${Words} text=${[one.channel, one.caller, TRUST[one.trust] || one.trust].filter(Boolean).join(" · ")} /></span>`);
}

async function toggleSpeech() {
  const on = !setting("speak");
  if (!on) hush();
  const rows = await attempt(() => api.put(paths.setting("speak"), { value: on }));
  if (rows) change({ settings: rows });
}

function Told({ talk, live }) {
  const last = {};
  talk.messages.forEach((message, index) => {
    if (message.role === "assistant" && message.turn) last[message.turn] = index;
  });
  const shown = new Set();
  const said = talk.messages.findLastIndex((one) => one.role === "user");
  return talk.messages.map((message, index) => {
    if (live && message.turn === live.turn && (message.role === "assistant" || (message.role === "user" && live.said))) return null;
    const steps = message.turn && last[message.turn] === index ? talk.steps[message.turn] : null;
    if (steps) shown.add(message.turn);
    const next = talk.messages.slice(index + 1).find((one) => one.role !== "notice");
    const orphan = message.role === "user" && message.turn && last[message.turn] === undefined && next?.turn !== message.turn ? talk.steps[message.turn] : null;
    return html`<${Message} key=${message.id} message=${message} steps=${steps || orphan} latest=${!live && index > said} />`;
  });
}

// Of a model's answer this much is read at once; a tool's is folded sooner.
const LONG = 24000;

// What tools said stands as they said it; what a model wrote around it may be set.
function Answer({ text, steps, growing = false }) {
  const told = (steps || []).map((step) => String(step.shown || step.text || "").trim()).filter((one) => one && text.includes(one));
  const own = told.reduce((sum, one) => sum + one.length, 0) > text.length / 2;
  return html`<${Folded} text=${text} most=${own ? undefined : LONG} draw=${(shown) => (own ? html`<${Sentence} text=${shown} />` : html`<${Markdown} text=${shown} growing=${growing} />`)} />`;
}

const CUTS = { stopped: "Stopped.", limit: "It stopped at a limit." };

function Cut({ why }) {
  return why && why !== "done" ? html`<p class="cut">${CUTS[why] || "This turn failed."}</p>` : null;
}

function Message({ message, steps, latest }) {
  if (message.role === "notice" && message.meta?.work) return html`<${JobNotice} job=${message.meta.work} text=${message.text} />`;
  if (message.role === "notice" && message.images?.length) return html`<article class="message theirs" aria-label="An image"><${Pieces} images=${message.images} /><time class="when">${clock(message.at)}</time></article>`;
  if (message.role === "notice") return html`<${Line} line=${{ text: message.text, why: message.meta?.why || "notice", at: message.at }} />`;
  const mine = message.role === "user";
  const images = (steps || []).flatMap((step) => step.images || []);
  const files = (steps || []).flatMap((step) => step.files || []);
  return html`<article class=${`message ${mine ? "mine" : "theirs"}`} aria-label=${mine ? "You" : "Etui"}>
    ${!mine && steps && html`<${Said} turn=${message.turn} />`}
    ${message.text && html`<div class="bubble">${mine ? html`<${Folded} text=${message.text} draw=${(text) => html`<${Words} text=${text} />`} />` : html`<${Answer} text=${message.text} steps=${steps} />`}</div>`}
    ${mine && steps && html`<p class="cut">${CUTS[message.why] || "This turn was cut short."}</p>`}
    <${Pieces} images=${[...(message.images || []), ...images]} files=${files} />
    <${Galleries} steps=${steps} />
    <${Files} steps=${steps} />
    <${Questions} steps=${steps} open=${latest} />
    <${Steps} steps=${steps} said=${message.text} />
    ${!mine && steps && message.why === "stopped" && html`<${Cut} why=${message.why} />`}
    ${!mine && html`<p class="under"><time class="when">${clock(message.at)}</time>${message.text && html`<${Copy} text=${message.text} what="this answer" />`}</p>`}
  </article>`;
}

function Now({ live, talk }) {
  const waiting = !live.text && !live.ended;
  const images = live.steps.flatMap((step) => step.images || []);
  const files = live.steps.flatMap((step) => step.files || []);
  return html`${live.said && html`<article class="message mine" aria-label="You"><div class="bubble"><${Words} text=${live.said} /></div></article>`}
    <article class="message theirs now" aria-label="Etui" aria-busy=${live.ended ? "false" : "true"}>
      <${Said} turn=${live.turn} />
      ${waiting
        ? html`<div class="bubble waiting" role="status"><span class="sr">Etui is working on it</span><i></i><i></i><i></i></div>`
        : live.text && html`<div class="bubble"><${Answer} text=${live.text} steps=${live.steps} growing=${!live.ended} />${!live.ended && html`<span class="caret" aria-hidden="true"></span>`}</div>`}
      <${Pieces} images=${images} files=${files} />
      <${Galleries} steps=${live.steps} />
      <${Files} steps=${live.steps} />
      <${Questions} steps=${live.steps} />
      <${Steps} steps=${live.steps} said=${live.text} />
      ${live.ended && html`<${Cut} why=${live.why} />`}
    </article>`;
}

// What was said while the turn ran, in the order in which it was heard.
function Said({ turn }) {
  const lines = state.said[turn] || [];
  if (!lines.length) return null;
  return html`<ul class="said" aria-label="Said meanwhile">${lines.map((line) => html`<li key=${line.key}><${Line} line=${line} /></li>`)}</ul>`;
}

function Line({ line }) {
  const name = LINE_NAMES[line.why];
  return html`<div class=${`line ${name ? "lasting" : "passing"} ${line.why}`}>
    <${Icon} name=${name ? "clock" : "voice"} />
    <div>${name && html`<strong>${name}</strong>${" "}`}<${Words} text=${line.text} /></div>
    ${name && line.at && html`<time class="when">${clock(line.at)}</time>`}
  </div>`;
}

function Welcome({ id }) {
  const found = suggestions(state.tools);
  return html`<div class="welcome">
    <${Face} ...${state.face} size="large" />
    <h2>What shall we do?</h2>
    ${found.length
      ? html`<p class="lead">Say it in your own words. These are a few things your tools can do:</p>
          <ul class="chips">${found.map((one) => html`<li key=${one.tool}><button type="button" class="chip" title=${`Uses ${one.tool}`} onClick=${() => pick(id, one)}>${parts(one.text).map((part) => (part.gap ? html`<span class="slot">${part.gap}</span>` : part.text ?? part.value))}</button></li>`)}</ul>
          <p class="quiet"><a href="#/tools">See all ${state.tools.length} tools</a>, or drop a Python file of your own into <code>${state.folder}</code>.</p>`
      : html`<p class="lead">No tool is here yet. Save a Python file with a tool in <code>${state.folder}</code>, and it is ready within a blink.</p>`}
  </div>`;
}

// What only reads is said at once; anything else, and what has a gap, goes into the box first.
function pick(id, { text, open, gentle }) {
  const made = filled(text);
  if (gentle && !open) {
    say(id, made.text);
    return;
  }
  const box = document.getElementById("say");
  box.value = made.text;
  box.dispatchEvent(new Event("input", { bubbles: true }));
  box.focus();
  box.setSelectionRange(...(made.chosen || [made.text.length, made.text.length]));
}

async function say(id, text) {
  hush();
  return attempt(async () => {
    let chat = id;
    if (!chat) {
      const made = await api.post("/api/chats", { title: [...text].slice(0, 60).join("") });
      chat = made.id;
      state.talks[chat] = { messages: [], steps: {}, chat: made };
      state.watched = chat;
      change({ chats: [made, ...state.chats.filter((one) => one.id !== made.id)] });
    }
    await api.post(`${paths.chat(chat)}/say`, { text });
    if (!id) location.hash = `#/chat/${encodeURIComponent(chat)}`;
    return true;
  });
}

// What else could answer here, by its name.
function offered() {
  const others = state.models.filter((one) => one.ready && !one.chosen);
  return others.length ? `Choose ${others[0].label}${others.length > 1 ? " or another" : ""}` : "Choose a model";
}

function Composer({ id, live, cards, others, fresh, onSay }) {
  const [text, setText] = useState("");
  const [note, setNote] = useState("");
  const [busy, setBusy] = useState(false);
  const box = useRef(null);
  useLayoutEffect(() => {
    const area = box.current;
    area.style.height = "auto";
    area.style.height = `${Math.min(area.scrollHeight, 220)}px`;
  }, [text]);
  useEffect(() => {
    // A question that is already being answered keeps the keyboard.
    if (matchMedia("(hover: hover)").matches && !document.activeElement?.closest(".card")) box.current?.focus({ preventScroll: true });
  }, [id]);
  useEffect(() => {
    // With a card that was answered goes the button that had the keyboard.
    if (document.activeElement === document.body && matchMedia("(hover: hover)").matches) box.current?.focus({ preventScroll: true });
  }, [cards.length]);
  useEffect(() => {
    if (!live) setNote("");
  }, [live]);
  const answer = async (said) => {
    const question = cards.find((card) => card.kind === "question" && !card.secret);
    const choice = question && answerOf(question, said);
    if (choice === undefined) {
      setNote(cards.length ? "Etui asks something first: answer it above." : "Etui is still at it: Esc stops it.");
      return false;
    }
    return attempt(() => api.post(paths.card(question.id), { choice }));
  };
  const send = async () => {
    const said = text.trim();
    if (!said || busy) return;
    setBusy(true);
    onSay();
    // Emptied at once and not afterwards: what asks meanwhile gets the keyboard.
    box.current?.focus();
    setText("");
    if (!(await (live ? answer(said) : say(id, said)))) setText((now) => now || text);
    setBusy(false);
  };
  const keys = (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      send();
    } else if (event.key === "Escape" && live) {
      attempt(() => api.post(`${paths.chat(id)}/stop`));
    }
  };
  const chosen = model();
  return html`<div class="composer">
    <${Elsewhere} cards=${others} />
    <form onSubmit=${(event) => { event.preventDefault(); send(); }}>
      <label class="sr" for="say">Say something to Etui</label>
      <textarea id="say" ref=${box} rows="1" maxlength="20000" placeholder=${fresh ? "Say what you want…" : "Say more…"} value=${text} onInput=${(event) => setText(event.target.value)} onKeyDown=${keys} enterkeyhint="send"></textarea>
      ${live
        ? html`<button type="button" class="round stop" aria-label="Stop the answer" title="Stop (Esc)" onClick=${() => attempt(() => api.post(`${paths.chat(id)}/stop`))}><${Icon} name="stop" /></button>`
        : html`<button class="round" aria-label="Send" title="Send (Enter)" disabled=${busy || !text.trim()}><${Icon} name="send" /></button>`}
    </form>
    <p class="foot">${
      note ? html`<span role="status">${note}</span>` : !chosen || chosen.id === "embedded"
        ? html`<span class="lamp"></span>Answers come from the small built-in command matcher<span class="wide">: it runs tools, and knows nothing else</span>. <a href="#/settings">${offered()}</a>`
        : html`Answers come from <a href="#/settings">${chosen.label}</a>.`
    }</p>
  </div>`;
}
