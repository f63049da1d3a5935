// The face: fourteen expressions on a small leather case, drawn as one SVG.
// Above: the chat shows it, `mood` chooses what it shows. Below: the view library. It refuses to know: events.

import { html } from "../vendor/htm-preact.js";

const EYES = {
  dot: { rx: 4.6, ry: 6.2 },
  wide: { rx: 6.4, ry: 8 },
  small: { rx: 3.6, ry: 4.6 },
  firm: { rx: 4.8, ry: 4.4 },
};
const SMILE = "M47 90 Q60 103 73 90";

// eyes: a shape, or arc (laughing), shut (asleep), flat; look: where the eyes go; brows: [left, right] as paths; mouth; extra.
const FACES = {
  neutral: { eyes: "dot", mouth: "M51 92 Q60 96 69 92" },
  happy: { eyes: "arc", mouth: SMILE, blush: true },
  excited: { eyes: "wide", mouth: "M46 88 Q60 112 74 88 Q60 92 46 88 Z", open: true, blush: true, extra: "sparks", brows: ["M37 54 Q43 49 49 53", "M71 53 Q77 49 83 54"] },
  sad: { eyes: "dot", look: [0, 2], mouth: "M50 97 Q60 88 70 97", brows: ["M36 59 Q43 54 50 53", "M70 53 Q77 54 84 59"] },
  crying: { eyes: "shut", mouth: "M49 99 Q60 88 71 99", extra: "tears", brows: ["M36 59 Q43 54 50 53", "M70 53 Q77 54 84 59"] },
  angry: { eyes: "firm", mouth: "M50 97 Q60 91 70 97", brows: ["M36 53 L51 59", "M69 59 L84 53"] },
  surprised: { eyes: "wide", mouth: "M60 88 a5.5 7 0 1 0 .01 0 Z", open: true, brows: ["M36 53 Q43 47 50 52", "M70 52 Q77 47 84 53"] },
  embarrassed: { eyes: "small", look: [-2.5, 2], mouth: "M49 94 q3.7 -4 7.4 0 t7.4 0 t7.4 0", blush: "deep", extra: "sweat" },
  thinking: { eyes: "dot", look: [3.4, -3], mouth: "M54 95 L67 92", brows: ["M37 57 L50 57", "M70 54 Q77 49 84 53"], extra: "dots" },
  sleepy: { eyes: "shut", mouth: "M55 94 Q60 97 65 94", extra: "zzz" },
  affectionate: { eyes: "arc", mouth: "M49 91 Q60 101 71 91", blush: "deep", extra: "heart" },
  confused: { eyes: "dot", look: [-2, -1], mouth: "M49 94 Q55 88 60 93 T71 92", brows: ["M37 53 Q43 49 50 53", "M70 58 L83 56"], extra: "question" },
  scared: { eyes: "wide", small: true, mouth: "M48 95 l4 -3 4 3 4 -3 4 3 4 -3 4 3", brows: ["M37 56 Q44 50 50 50", "M70 50 Q76 50 83 56"], extra: "sweat" },
  determined: { eyes: "firm", mouth: "M51 93 Q60 95 69 92", brows: ["M37 55 L51 58", "M69 58 L83 55"] },
};

export const EXPRESSIONS = Object.keys(FACES);

function Eye({ x, face }) {
  const [dx, dy] = face.look || [0, 0];
  if (face.eyes === "arc") return html`<path class="line" d=${`M${x - 7} 74 Q${x} 63 ${x + 7} 74`} />`;
  if (face.eyes === "shut") return html`<path class="line" d=${`M${x - 7} 70 Q${x} 77 ${x + 7} 70`} />`;
  const shape = EYES[face.eyes];
  return html`<g class="eye">
    <ellipse class="ink" cx=${x + dx} cy=${71 + dy} rx=${shape.rx} ry=${shape.ry} />
    <circle class="glint" cx=${x + dx + 1.6} cy=${71 + dy - shape.ry / 3} r=${face.small ? 1 : 1.7} />
  </g>`;
}

function Extra({ kind }) {
  if (kind === "sparks") return html`<g class="extra brass"><path d="M20 24 l2.4 5.6 5.6 2.4 -5.6 2.4 -2.4 5.6 -2.4 -5.6 -5.6 -2.4 5.6 -2.4z" /><path d="M102 14 l1.8 4.2 4.2 1.8 -4.2 1.8 -1.8 4.2 -1.8 -4.2 -4.2 -1.8 4.2 -1.8z" /></g>`;
  if (kind === "tears") return html`<g class="extra water"><path d="M40 79 q-5 9 0 12 q5 -3 0 -12z" /><path d="M80 79 q-5 9 0 12 q5 -3 0 -12z" /></g>`;
  if (kind === "sweat") return html`<g class="extra water"><path d="M95 50 q-6 10 0 13 q6 -3 0 -13z" /></g>`;
  if (kind === "zzz") return html`<g class="extra zzz"><text x="88" y="30">z</text><text x="97" y="20">z</text><text x="105" y="11">z</text></g>`;
  if (kind === "dots") return html`<g class="extra dots"><circle cx="92" cy="20" r="3" /><circle cx="101" cy="14" r="3.6" /><circle cx="111" cy="7" r="4.2" /></g>`;
  if (kind === "heart") return html`<g class="extra rose"><path d="M103 24 c-9 -6 -9 -15 -3 -15 q3 0 3 4 q0 -4 3 -4 c6 0 6 9 -3 15z" /></g>`;
  if (kind === "question") return html`<g class="extra zzz"><text x="98" y="26" font-size="24">?</text></g>`;
  return null;
}

// `name` is one of the fourteen; anything else is shown as thinking. Decoration only: what it says also stands in words.
export function Face({ name = "neutral", speaking = false, humming = false, size = "small" }) {
  const known = FACES[name] ? name : "thinking";
  const face = FACES[known];
  return html`<svg class=${`face ${size} is-${known}${speaking ? " speaking" : ""}${humming ? " humming" : ""}`} data-face=${known} viewBox="0 0 120 124" aria-hidden="true" focusable="false">
    <g class="case">
      <ellipse class="shade" cx="60" cy="118" rx="38" ry="4.5" />
      <rect class="body" x="14" y="16" width="92" height="99" rx="29" />
      <path class="lid" d="M14 46 V45 a29 29 0 0 1 29 -29 H77 a29 29 0 0 1 29 29 V46 Z" />
      <path class="stitch" d="M21 42 a23 21 0 0 1 22 -19.5 H77 a23 21 0 0 1 22 19.5" />
      <path class="stitch" d="M21 52 V86 a22 22 0 0 0 22 22 H77 a22 22 0 0 0 22 -22 V52" />
      <rect class="clasp" x="51" y="38" width="18" height="15" rx="4.5" />
      <circle class="pin" cx="60" cy="45.5" r="2.4" />
      ${face.blush && html`<g class=${`blush ${face.blush === "deep" ? "deep" : ""}`}><ellipse cx="34" cy="84" rx="7" ry="4.4" /><ellipse cx="86" cy="84" rx="7" ry="4.4" /></g>`}
      ${face.brows && html`<path class="line brow" d=${face.brows[0]} /><path class="line brow" d=${face.brows[1]} />`}
      <g class="eyes"><${Eye} x=${43} face=${face} /><${Eye} x=${77} face=${face} /></g>
      <path class=${face.open ? "mouth open" : "line mouth"} d=${face.mouth} />
    </g>
    <${Extra} kind=${face.extra} />
  </svg>`;
}
