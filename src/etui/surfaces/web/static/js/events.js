// The host's events: heard here, taken into the state, shown on the face, said aloud.
// Above: `main` starts it. Below: `state`, `mood`, `speech`. It refuses to know: how anything is drawn.

import { join, mood } from "./mood.js";
import { chime, hum, speak } from "./speech.js";
import { again, change, isHolding, keepLine, load, loadTalk, onRelease, setting, state, toast } from "./state.js";

const KINDS = [
  "turn_started", "text", "turn_ended", "call_started", "call_progress", "call_ended", "said", "card_opened", "card_closed", "tools_changed",
  "problem", "problem_gone", "reminders_changed", "chats_changed", "settings_changed", "worker_started", "worker_gone", "dropped",
  "face", "working", "hum", "tasks", "work_started", "work_done",
  "session_started", "session_ended", "trust_changed",
];
const LASTING = new Set(["timer", "alarm", "reminder", "notice"]);
let source = null;
let retry = 0;

export function connect() {
  if (source) source.close();
  source = new EventSource("/api/events");
  source.addEventListener("hello", async () => {
    // A host that started anew counts its events from one again.
    waiting.length = 0;
    for (const talk of Object.values(state.talks)) talk.number = 0;
    await load();
    join(state.live[state.watched]);
    change({ connected: true });
  });
  source.addEventListener("bye", () => change({ connected: false }));
  for (const kind of KINDS) source.addEventListener(kind, (message) => hear(JSON.parse(message.data)));
  source.onerror = () => {
    change({ connected: false });
    clearTimeout(retry);
    // A closed source does not try again by itself: the host said no, or something else answers on its port.
    if (source.readyState === EventSource.CLOSED) {
      load();
      retry = setTimeout(connect, 4000);
    }
  };
}

function here(chat) {
  return state.route.page === "chat" && state.route.id === chat && !document.hidden;
}

// The chat that is open, or was just begun and opens in this moment.
function attended(chat) {
  return state.route.page === "chat" && chat === state.watched;
}

// The turn that an event belongs to; one that began before this page listened is begun here.
function runningTurn(event) {
  const known = state.live[event.chat];
  if (event.number <= (known ? known.upTo ?? 0 : state.talks[event.chat]?.number ?? 0)) return null;
  if (known || !event.turn || !event.chat) return known?.turn === event.turn ? known : null;
  return (state.live[event.chat] = { turn: event.turn, chat: event.chat, said: "", started: event.at, text: "", steps: [] });
}

function step(event, make) {
  const running = runningTurn(event);
  if (!running) return;
  const known = running.steps.find((one) => one.call === event.call);
  if (known) Object.assign(known, event.data);
  else if (make) running.steps.push({ ...event.data, call: event.call, chat: event.chat, started: event.at });
}

const TAKES = {
  turn_started(event) {
    if (state.live[event.chat]?.turn === event.turn || event.number <= (state.talks[event.chat]?.number ?? 0)) return;
    state.live[event.chat] = { turn: event.turn, chat: event.chat, said: event.data.text || "", started: event.at, text: "", steps: [] };
    if (!state.talks[event.chat] && state.route.id === event.chat) loadTalk(event.chat);
  },
  text(event) {
    const running = runningTurn(event);
    if (running) running.text += event.data.text || "";
  },
  turn_ended(event) {
    const running = state.live[event.chat];
    if (running && running.turn === event.turn) Object.assign(running, { ended: true, text: event.data.text || running.text, why: event.data.why });
    if (attended(event.chat)) {
      change({ spoken: event.data.text || "" });
      speak(event.data.text);
    }
    if (state.talks[event.chat] || state.route.id === event.chat) loadTalk(event.chat);
    else delete state.live[event.chat];
    again("chats");
    change({ auditAt: state.auditAt + 1 });
  },
  call_started(event) {
    step({ ...event, data: { ...event.data, status: "running" } }, true);
  },
  call_progress(event) {
    step({ ...event, data: { progress: event.data } }, false);
  },
  call_ended(event) {
    step(event, true);
    change({ auditAt: state.auditAt + 1 });
  },
  said(event) {
    const { text = "", why = "" } = event.data;
    const lasts = LASTING.has(why);
    const chat = event.chat || state.route.id;
    const line = { text, why, lasts, at: event.at, key: event.number, turn: event.turn };
    const kept = lasts && state.talks[chat]?.messages.some((one) => one.role === "notice" && one.text === text && Math.abs(one.at - event.at) < 3);
    if (event.turn && !lasts) {
      keepLine(event.turn, line);
      if (state.talks[chat]) state.talks[chat] = { ...state.talks[chat] };
    } else if (chat && !kept) (state.lines[chat] ||= []).push(line);
    if (why === "timer" || why === "alarm" || why === "reminder") {
      chime();
      again("reminders");
    }
    if (lasts && !here(chat)) toast(text, "loud", event.chat ? `#/chat/${encodeURIComponent(event.chat)}` : "");
    if (lasts || attended(event.chat)) {
      change({ spoken: text });
      speak(text);
    }
  },
  face(event) {
    const running = runningTurn(event);
    if (running) running.face = event.data.face;
  },
  working(event) {
    const running = runningTurn(event);
    if (running) running.working = event.data.on === true;
  },
  hum(event) {
    if (attended(event.chat)) hum();
  },
  tasks(event) {
    if (event.data.list) state.tasks[event.chat] = event.data.list;
    else delete state.tasks[event.chat];
  },
  work_started(event) {
    const { job, goal = "" } = event.data;
    state.jobs = [...state.jobs.filter((one) => one.id !== job), { id: job, chat: event.chat, goal, state: "running", started: event.at }];
    again("jobs");
  },
  work_done(event) {
    const { job, goal = "", ok = false, cancelled = false, summary = "" } = event.data;
    const known = state.jobs.find((one) => one.id === job) || { id: job, chat: event.chat, goal };
    state.jobs = [...state.jobs.filter((one) => one.id !== job), { ...known, state: cancelled ? "cancelled" : ok ? "done" : "failed", summary }];
    if (!here(event.chat)) toast(`${cancelled ? "Stopped" : ok ? "Done" : "It did not work out"}: ${goal}`, ok ? "loud" : "", event.chat ? `#/chat/${encodeURIComponent(event.chat)}` : "");
    change({ spoken: `${ok ? "Done" : "It did not work out"}: ${goal}` });
    if (state.talks[event.chat]) loadTalk(event.chat);
    again("jobs");
  },
  card_opened(event) {
    const card = event.data.card;
    state.cards = [...state.cards.filter((one) => one.id !== card.id), card];
    change({ spoken: `A question for you: ${card.question}` });
  },
  card_closed(event) {
    state.cards = state.cards.filter((one) => one.id !== event.data.card);
  },
  session_started(event) {
    const { channel = "", trust = "", caller = "" } = event.data;
    state.sessions = [...state.sessions.filter((one) => one.id !== event.session), { id: event.session, chat: event.chat, channel, trust, caller }];
  },
  session_ended(event) {
    state.sessions = state.sessions.filter((one) => one.id !== event.session);
  },
  trust_changed(event) {
    state.sessions = state.sessions.map((one) => (one.id === event.session ? { ...one, trust: event.data.trust } : one));
  },
  tools_changed(event) {
    const { added = [] } = event.data;
    if (added.length === 1) toast(`The tool ${added[0]} is ready.`, "", `#/tools/${encodeURIComponent(added[0])}`);
    else if (added.length) toast(`${added.length} new tools are ready.`, "", "#/tools");
    again("tools");
  },
  problem(event) {
    const { what = "", reason = "", refused = false } = event.data.problem || {};
    if (refused && (state.route.page !== "tools" || document.hidden)) toast(`${what} was refused: ${reason}`, "bad", "#/tools");
    again("tools");
  },
  problem_gone: () => again("tools"),
  reminders_changed: () => again("reminders"),
  chats_changed(event) {
    again("chats");
    change({ choicesAt: state.choicesAt + 1 });
    const chat = event.data.chat || event.chat;
    if (chat && chat === state.route.id && !state.live[chat]) loadTalk(chat);
  },
  settings_changed: () => again("settings"),
  dropped: () => load(),
};

const waiting = [];

onRelease(() => {
  while (waiting.length && !isHolding()) take(waiting.shift());
});

function hear(event) {
  if (isHolding()) waiting.push(event);
  else take(event);
}

function take(event) {
  if (event.kind !== "dropped") {
    if (event.number <= state.number) return;
    state.number = event.number;
  }
  TAKES[event.kind]?.(event);
  mood(event, setting);
  if (event.kind === "text" && !document.hidden) soon();
  else change();
}

// A model's pieces come faster than a screen shows them.
let due = 0;

function soon() {
  due ||= requestAnimationFrame(() => {
    due = 0;
    change();
  });
}
