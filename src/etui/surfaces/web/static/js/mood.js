// What the face shows, by what happens. In a turn the host says which face; what belongs to no turn has one of its own here.
// Above: `events` hands every event over. Below: `state`. It refuses to know: how a face is drawn.

import { EXPRESSIONS } from "./face.js";
import { change, state } from "./state.js";

const DROWSY = 8 * 60_000;
const HUMMING = 1_500;
const SEEN = 300; // a told face stands so long at least, or nobody would see it
let fading = 0;
let dozing = 0;
let resting = 0;

const AFTER = { ok: "happy", refused: "confused", needs_approval: "surprised", failed: "sad", timed_out: "sad", crashed: "scared", unknown: "confused", cancelled: "neutral" };
let lastEnd = "happy";
let chosen = false; // the reply chose its face, and nothing after it disagrees

export function show(name, { speaking = false, fade = 0 } = {}) {
  clearTimeout(fading);
  clearTimeout(dozing);
  change({ face: { name: EXPRESSIONS.includes(name) ? name : "thinking", speaking } });
  if (fade) fading = setTimeout(() => show("neutral"), fade);
  dozing = setTimeout(() => change({ face: { name: "sleepy", speaking: false } }), DROWSY);
}

let coming = []; // faces that wait until the one before was seen
let standing = 0;
let talking = false;

function next() {
  standing = 0;
  const face = coming.shift();
  if (!face) return;
  show(face.name, { speaking: talking, fade: face.fade });
  standing = setTimeout(next, SEEN);
}

function tell(name, fade = 0) {
  coming.push({ name, fade });
  if (!standing) next();
}

function begin() {
  clearTimeout(standing);
  coming = [];
  standing = 0;
  talking = false;
  chosen = false;
  lastEnd = "happy";
}

// The face as it is in a turn that ran before this page was there.
export function join(running) {
  if (!running) return;
  begin();
  talking = Boolean(running.text);
  show(running.face || "thinking", { speaking: talking });
}

function hum() {
  clearTimeout(resting);
  change({ face: { ...state.face, humming: true } });
  resting = setTimeout(() => change({ face: { ...state.face, humming: false } }), HUMMING);
}

// What happens in another chat moves the face there, and not here.
function elsewhere({ chat }) {
  return chat && chat !== state.watched;
}

const MOVES = {
  turn_started() {
    begin();
    show("thinking");
  },
  face({ data }) {
    chosen = data.why === "reply";
    tell(data.face);
  },
  hum,
  call_started({ turn, data }) {
    if (!turn) show(data.face || "determined");
  },
  call_ended({ turn, data }) {
    lastEnd = AFTER[data.status] || "neutral";
    if (!turn) show(data.status === "ok" ? "thinking" : lastEnd, { fade: 6000 });
  },
  text() {
    if (talking) return;
    talking = true;
    if (chosen || standing) change({ face: { ...state.face, speaking: true } });
    else show(lastEnd === "happy" ? "neutral" : lastEnd, { speaking: true, fade: 4000 });
  },
  turn_ended({ data }) {
    talking = false;
    change({ face: { ...state.face, speaking: false } });
    if (!chosen) tell(data.why === "failed" ? "embarrassed" : data.why === "stopped" ? "surprised" : lastEnd, 6000);
  },
};

export function mood(event) {
  const { kind, data } = event;
  if (MOVES[kind]) {
    if (!elsewhere(event)) MOVES[kind](event);
  } else if (kind === "card_opened") {
    show("surprised");
  } else if (kind === "said" && (data.why === "timer" || data.why === "alarm" || data.why === "reminder")) {
    show("excited", { fade: 9000 });
  } else if (kind === "problem") {
    show("confused", { fade: 6000 });
  } else if (kind === "tools_changed" && data.added?.length) {
    show("excited", { fade: 3500 });
  }
}
