// Everything that the page knows, in one object, and how events change it.
// Above: every page reads it, `main` draws it again after a change. Below: `api`. It refuses to know: how anything looks.

import { api, paths } from "./api.js";

export const state = {
  phase: "loading", // loading, ready, signin, broken
  trouble: "",
  connected: true,
  route: { page: "chat", id: "" },
  chats: [], tools: [], plugins: [], families: [], problems: [], cards: [], reminders: [], schedules: [], models: [], settings: [],
  live: {}, // chat -> the turn that runs
  talks: {}, // chat -> { messages, steps }
  lines: {}, // chat -> lines said meanwhile that no message holds yet
  said: {}, // turn -> lines said while it ran
  tasks: {}, // chat -> the plan that was shown last
  jobs: [], // background jobs, those that run and the last that ended
  sessions: [], // who is here: { id, chat, channel, trust, caller }
  watched: "", // the chat whose face is shown
  toasts: [],
  spoken: "", // for the ears: read out by screen readers
  face: { name: "neutral", speaking: false },
  toolsAt: 0, // goes up when tools changed, so that an open tool page looks again
  auditAt: 0,
  choicesAt: 0, // goes up when something was chosen for a chat
  number: 0,
  folder: "", home: "", version: "",
};

let draw = () => {};
let drawing = false;

export function onChange(fn) {
  draw = fn;
}

export function change(news = {}) {
  Object.assign(state, news);
  if (drawing) return;
  drawing = true;
  queueMicrotask(() => {
    drawing = false;
    draw();
  });
}

export function setting(name) {
  return state.settings.find((one) => one.name === name)?.value;
}

// The name under which a plugin's routes lie; its own where it has no other.
export function routeName(plugin) {
  return state.plugins.find((one) => one.name === plugin)?.address ?? plugin;
}

export function model() {
  return state.models.find((one) => one.chosen);
}

let holding = 0;
let drain = () => {};

export function onRelease(fn) {
  drain = fn;
}

export function isHolding() {
  return holding > 0;
}

// While a picture of the host is on its way, events wait; then those that are newer than the picture go on from it.
async function still(work) {
  holding += 1;
  try {
    return await work();
  } finally {
    holding -= 1;
    if (!holding) drain();
  }
}

export function load() {
  return still(async () => {
    try {
      const given = await api.get("/api/state");
      for (const chat of Object.keys(state.talks)) if (!given.chats.some((one) => one.id === chat)) delete state.talks[chat];
      for (const running of Object.values(given.live)) running.upTo = given.number;
      change({ ...given, phase: "ready", trouble: "", toolsAt: state.toolsAt + 1, auditAt: state.auditAt + 1 });
      if (state.route.page === "chat" && state.route.id) await loadTalk(state.route.id);
    } catch (error) {
      if (error.status === 401) change({ phase: "signin" });
      else if (state.phase === "loading") change({ phase: "broken", trouble: error.message });
      else change({ connected: false });
    }
  });
}

export function loadTalk(id) {
  return still(async () => {
    try {
      const given = await api.get(`${paths.chat(id)}/messages`);
      if (given.number < (state.talks[id]?.number ?? 0)) return;
      state.talks[id] = { messages: given.messages, steps: given.steps, chat: given.chat, number: given.number };
      if (given.live) state.live[id] = { ...given.live, upTo: given.number };
      else delete state.live[id];
      for (const line of given.lines) keepLine(line.turn, { ...line, key: line.number });
      const kept = new Set(given.messages.filter((one) => one.role === "notice").map((one) => one.text));
      state.lines[id] = (state.lines[id] || []).filter((line) => line.lasts && !kept.has(line.text));
      change();
    } catch (error) {
      if (error.status === 404) {
        delete state.talks[id];
        if (state.route.id === id) location.hash = "#/chat";
        toast("That chat does not exist any more.");
      } else if (error.status === 401) {
        change({ phase: "signin" });
      } else {
        toast(error.message, "bad");
      }
    }
  });
}

const TURNS = 100;

// A line that was said in a turn stays with it, once.
export function keepLine(turn, line) {
  const known = (state.said[turn] ||= []);
  if (known.some((one) => one.key === line.key)) return;
  known.push(line);
  known.sort((one, other) => one.key - other.key);
  const turns = Object.keys(state.said);
  if (turns.length > TURNS) delete state.said[turns[0]];
}

let toastNumber = 0;

export function toast(text, kind = "", link = "") {
  const id = (toastNumber += 1);
  change({ toasts: [...state.toasts.slice(-3), { id, text, kind, link }] });
  setTimeout(() => dismiss(id), kind === "loud" ? 30_000 : 7_000);
}

export function dismiss(id) {
  change({ toasts: state.toasts.filter((one) => one.id !== id) });
}

// Runs something that may be refused, and says why in a toast when it is.
export async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    if (error.status === 401) change({ phase: "signin" });
    else toast(error.message, "bad");
    return undefined;
  }
}

const refresh = {
  jobs: async () => change({ jobs: await api.get("/api/jobs") }),
  tools: async () => change({ ...(await api.get("/api/tools")), toolsAt: state.toolsAt + 1 }),
  chats: async () => change({ chats: await api.get("/api/chats") }),
  reminders: async () => change({ reminders: await api.get("/api/reminders"), schedules: await api.get("/api/schedules") }),
  settings: async () => change({ settings: await api.get("/api/settings"), models: await api.get("/api/models") }),
};
const waiting = new Set();

// Asks anew soon; many wishes at once become one.
export function again(what) {
  if (waiting.has(what)) return;
  waiting.add(what);
  setTimeout(async () => {
    waiting.delete(what);
    try {
      await refresh[what]();
    } catch (error) {
      if (error.status === 401) change({ phase: "signin" });
    }
  }, 60);
}
