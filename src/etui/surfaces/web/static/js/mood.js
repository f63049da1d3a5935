// What the face shows, by what happens. A tool may name its own face; each mood fades back to calm.
// Above: `events` hands every event over. Below: `state`. It refuses to know: how a face is drawn.

import { EXPRESSIONS } from "./face.js";
import { change, state } from "./state.js";

const DROWSY = 8 * 60_000;
let fading = 0;
let dozing = 0;

const AFTER = { ok: "happy", refused: "confused", needs_approval: "surprised", failed: "sad", timed_out: "sad", crashed: "scared", unknown: "confused", cancelled: "neutral" };
let lastEnd = "happy";

export function show(name, { speaking = false, fade = 0 } = {}) {
  clearTimeout(fading);
  clearTimeout(dozing);
  change({ face: { name: EXPRESSIONS.includes(name) ? name : "thinking", speaking } });
  if (fade) fading = setTimeout(() => show("neutral"), fade);
  dozing = setTimeout(() => change({ face: { name: "sleepy", speaking: false } }), DROWSY);
}

export function mood(event) {
  const { kind, data } = event;
  if (kind === "turn_started") {
    lastEnd = "happy";
    show("thinking");
  } else if (kind === "call_started") {
    show(data.face || "determined");
  } else if (kind === "call_ended") {
    lastEnd = AFTER[data.status] || "neutral";
    show(data.status === "ok" ? "thinking" : lastEnd, { fade: 6000 });
  } else if (kind === "text") {
    if (!state.face.speaking) show(lastEnd === "happy" ? "neutral" : lastEnd, { speaking: true, fade: 4000 });
  } else if (kind === "turn_ended") {
    show(data.why === "failed" ? "embarrassed" : data.why === "stopped" ? "surprised" : lastEnd, { fade: 6000 });
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
