// Foreign text made safe to look at: text nodes only, hidden characters made visible, links only to the web.
// Above: everything that shows what a tool, a model or a person wrote. Below: the view library.
// It refuses to know: where the text came from.

import { html, useState } from "../vendor/htm-preact.js";

const NAMES = {
  0x00: "NUL", 0x07: "BEL", 0x08: "BS", 0x09: "TAB", 0x0a: "LF", 0x0b: "VT", 0x0c: "FF", 0x0d: "CR", 0x1b: "ESC", 0x7f: "DEL",
  0x85: "NEL", 0xa0: "NBSP", 0xad: "SHY", 0x034f: "CGJ", 0x061c: "ALM", 0x115f: "HANGUL FILLER", 0x1160: "HANGUL FILLER",
  0x180e: "MVS", 0x200b: "ZWSP", 0x200c: "ZWNJ", 0x200d: "ZWJ", 0x200e: "LRM", 0x200f: "RLM", 0x2028: "LINE SEP", 0x2029: "PARA SEP",
  0x202a: "LRE", 0x202b: "RLE", 0x202c: "PDF", 0x202d: "LRO", 0x202e: "RLO", 0x2060: "WJ", 0x2066: "LRI", 0x2067: "RLI",
  0x2068: "FSI", 0x2069: "PDI", 0x3164: "HANGUL FILLER", 0xfeff: "BOM", 0xffa0: "HANGUL FILLER", 0xe0001: "TAG",
};
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u;
const PICTURE = /\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?(?:\u200d\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?)*|[0-9#*]\ufe0f\u20e3/uy;
const JOINING = /[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}]/u;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const MIXED = [["Latin", /\p{Script=Latin}/u], ["Cyrillic", /\p{Script=Cyrillic}/u], ["Greek", /\p{Script=Greek}/u], ["Armenian", /\p{Script=Armenian}/u], ["Cherokee", /\p{Script=Cherokee}/u]];
const PADDING = 4;

function hex(code) {
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

// Cuts text into { text } and { hidden, label, title } pieces; emoji sequences stay whole.
export function pieces(text, { exact = false } = {}) {
  const found = [];
  let plain = "";
  const flush = () => {
    if (plain) found.push({ text: plain });
    plain = "";
  };
  const mark = (label, title, after = "") => {
    flush();
    found.push({ hidden: true, label, title, after });
  };
  let at = 0;
  while (at < text.length) {
    PICTURE.lastIndex = at;
    const picture = PICTURE.exec(text);
    if (picture) {
      plain += picture[0];
      at += picture[0].length;
      continue;
    }
    const code = text.codePointAt(at);
    const one = String.fromCodePoint(code);
    at += one.length;
    if (exact && one === " ") {
      let count = 1;
      while (text[at] === " ") {
        at += 1;
        count += 1;
      }
      if (count >= PADDING || (count > 1 && at === text.length)) mark(`${count} spaces`, `${count} spaces in a row`, " ".repeat(count));
      else plain += " ".repeat(count);
    } else if (one === "\n" || one === "\t") {
      if (exact) mark(one === "\n" ? "↵" : "⇥", one === "\n" ? "a new line" : "a tab", one);
      else plain += one;
    } else if (one === "\r" && text[at] === "\n" && !exact) {
      continue;
    } else if ((code === 0x200c || code === 0x200d) && JOINING.test(text.slice(Math.max(0, at - 2), at - 1))) {
      plain += one;
    } else if (HIDDEN.test(one) || (exact && /\p{Zs}/u.test(one))) {
      const name = NAMES[code] || (code >= 0xe0020 && code <= 0xe007f ? `TAG ${String.fromCharCode(code - 0xe0000)}` : hex(code));
      mark(name, `hidden character ${hex(code)}`);
    } else {
      plain += one;
    }
  }
  flush();
  return found;
}

export function mixedScripts(word) {
  const scripts = MIXED.filter(([, test]) => test.test(word)).map(([name]) => name);
  return scripts.length > 1 ? scripts : null;
}

function Ghost({ piece }) {
  return html`<span class="ghost" title=${piece.title}><span class="sr">${piece.title} </span><span aria-hidden="true">${piece.label}</span></span>${piece.after || ""}`;
}

function words(text) {
  const parts = [];
  let from = 0;
  for (const match of text.matchAll(WORD)) {
    const scripts = mixedScripts(match[0]);
    if (!scripts) continue;
    parts.push(text.slice(from, match.index));
    const others = [...match[0]].filter((one) => !MIXED[0][1].test(one) && MIXED.some(([, test]) => test.test(one))).join(" ");
    parts.push(html`<span class="mixed" title=${`letters of two alphabets in one word: ${scripts.join(" and ")} (${others})`}>${match[0]}</span>`);
    from = match.index + match[0].length;
  }
  parts.push(text.slice(from));
  return parts;
}

const LINK = /https?:\/\/[^\s<>"'`\\^{}|]+/gi;

export function safeLink(text) {
  try {
    const url = new URL(text);
    return (url.protocol === "http:" || url.protocol === "https:") && !url.username && !url.password ? url.href : null;
  } catch {
    return null;
  }
}

// An address without the signs that end the sentence around it.
function bare(found) {
  let end = found.length;
  const spare = found.split(")").length - found.split("(").length;
  for (let closed = 0; end > 0; end -= 1) {
    const one = found[end - 1];
    if (one === ")" && closed >= spare) break;
    if (one === ")") closed += 1;
    else if (!".,;:!?]".includes(one)) break;
  }
  return found.slice(0, end);
}

function links(text) {
  const parts = [];
  let from = 0;
  for (const match of text.matchAll(LINK)) {
    const shown = bare(match[0]);
    const href = safeLink(shown);
    if (!href) continue;
    parts.push(text.slice(from, match.index));
    // A name in foreign letters is also written as the web knows it.
    const { host } = new URL(href);
    const other = shown.toLowerCase().includes(host) ? "" : host;
    parts.push(html`<a class="web" dir="ltr" href=${href} title=${`Opens ${host} in a new tab`} target="_blank" rel="noopener noreferrer nofollow">${shown}${other && html` <span class="true-host">${other}</span>`}</a>`);
    from = match.index + shown.length;
  }
  parts.push(text.slice(from));
  return parts;
}

// What somebody wrote, to be read: line breaks stay, web links work, hidden characters show.
export function Words({ text }) {
  return pieces(String(text ?? "")).map((piece) => (piece.hidden ? html`<${Ghost} piece=${piece} />` : links(piece.text)));
}

// An answer or one of Etui's own sentences: the same, with `names` in backticks set as code.
export function Sentence({ text }) {
  return String(text ?? "").split(/(`[^`\n]+`)/).map((part) => (/^`[^`]+`$/.test(part) ? html`<code><${Words} text=${part.slice(1, -1)} /></code>` : html`<${Words} text=${part} />`));
}

const LONG = 6000;

// The beginning of a long text, and the rest on demand; `draw` makes what is shown of it.
export function Folded({ text, draw, most = LONG }) {
  const [open, setOpen] = useState(false);
  const whole = String(text ?? "");
  if (open || whole.length <= most * 1.25) return draw(whole);
  const cut = whole.lastIndexOf("\n", most);
  const end = cut > most / 2 ? cut : whole.charCodeAt(most - 1) >> 10 === 0x36 ? most - 1 : most;
  return html`${draw(`${whole.slice(0, end)}…`)}<button type="button" class="link" onClick=${() => setOpen(true)}>Show all of it: ${(whole.length - end).toLocaleString()} more characters</button>`;
}

// Exactly what will run or ran: every hidden or misleading character shows.
export function Exact({ text }) {
  return html`<bdi class="exact" dir="ltr">${pieces(String(text ?? ""), { exact: true }).map((piece) => (piece.hidden ? html`<${Ghost} piece=${piece} />` : words(piece.text)))}</bdi>`;
}

// The beginning of a text on one line; nothing of what is none.
export function line(text, most) {
  return typeof text === "string" ? [...text.replace(/\s+/g, " ").trim()].slice(0, most).join("") : "";
}

// One line's worth of a value, for a row of a list; the whole stands in the details.
export function brief(value, most = 60) {
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? "";
  const flat = text.replace(/\s+/g, " ");
  return [...flat].length > most ? `${[...flat].slice(0, most - 1).join("")}…` : flat;
}

// Arguments as a table, nothing left out.
export function Arguments({ value }) {
  const given = typeof value === "string" ? parsed(value) : value;
  if (given === null || typeof given !== "object" || Array.isArray(given)) {
    return html`<div class="args"><pre class="value"><${Exact} text=${typeof given === "string" ? given : JSON.stringify(given, null, 2)} /></pre></div>`;
  }
  const names = Object.keys(given);
  if (!names.length) return html`<p class="quiet">No arguments.</p>`;
  return html`<dl class="args">${names.map(
    (name) => html`<div key=${name}><dt><${Exact} text=${name} /></dt><dd><${Value} value=${given[name]} /></dd></div>`,
  )}</dl>`;
}

function Value({ value }) {
  if (typeof value === "string") return html`<span class="value text"><${Exact} text=${value} /></span>`;
  if (value !== null && typeof value === "object") return html`<pre class="value"><${Exact} text=${JSON.stringify(value, null, 1).replace(/\n\s*/g, " ")} /></pre>`;
  return html`<span class="value bare">${String(value)}</span>`;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function seconds(value) {
  if (value === null || value === undefined) return "";
  if (value < 0.001) return "under 1 ms";
  if (value < 1) return `${Math.max(1, Math.round(value * 1000))} ms`;
  if (value < 60) return `${value.toFixed(1).replace(".0", "")} s`;
  return `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
}

export function clock(epoch) {
  const date = new Date(epoch * 1000);
  const today = new Date();
  const time = date.toLocaleTimeString([], { hour: "numeric", minute: "2-digit" });
  return date.toDateString() === today.toDateString() ? time : `${date.toLocaleDateString([], { day: "numeric", month: "short" })}, ${time}`;
}
