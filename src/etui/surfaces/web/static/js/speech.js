// The voice: the browser's own, when the person switched it on, a soft chime for timers and a hum for what takes long.
// Above: `events`, the chat. Below: `state`. It refuses to know: why something is said.

import { setting } from "./state.js";

export function canSpeak() {
  return "speechSynthesis" in window;
}

export function speak(text) {
  if (!text || !canSpeak() || !setting("speak")) return;
  const line = new SpeechSynthesisUtterance(text.slice(0, 1500));
  line.lang = setting("language") || "en";
  speechSynthesis.speak(line);
}

export function hush() {
  if (canSpeak()) speechSynthesis.cancel();
}

let audio = null;

// Two quiet notes; browsers allow it only after the person has touched the page, and then it is silent before.
export function chime() {
  play([660, 880], 0.12, 0.7);
}

// A sign of life without words, where answers are spoken.
export function hum() {
  if (setting("speak")) play([196, 220], 0.05, 0.5);
}

function play(pitches, loud, long) {
  try {
    audio ||= new AudioContext();
  } catch {
    return;
  }
  pitches.forEach((pitch, index) => {
    const tone = audio.createOscillator();
    const volume = audio.createGain();
    const from = audio.currentTime + index * 0.22;
    tone.frequency.value = pitch;
    volume.gain.setValueAtTime(0, from);
    volume.gain.linearRampToValueAtTime(loud, from + 0.02);
    volume.gain.exponentialRampToValueAtTime(0.001, from + long);
    tone.connect(volume).connect(audio.destination);
    tone.start(from);
    tone.stop(from + long + 0.05);
  });
}
