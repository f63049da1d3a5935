// What a newcomer could say: sentences made from the tools' own examples, the gentlest first, one a plugin and round again.
// Above: the chat's first page. Below: nothing. It refuses to know: how a sentence is understood.

const SLOT = /\{(\w+)[^}]*\}/g;
const UNKIND = /\b(delete|remove|forget|cancel|clear|empty|erase|wipe|reset|undo|stop|throw|overwrite|replace)\b/i;
const HOUSE = /\b(tool|code|plugin|server|job)s?\b/i;
const VAGUE = /\b(on|of|off|from|to) (it|them|that)\b/i;
// Everyday values for arguments with everyday names; any other stays a gap to be filled in.
const USUAL = {
  place: "Tokyo", city: "Tokyo", location: "Tokyo", where: "Tokyo", duration: "ten minutes", length: "ten minutes", item: "milk", items: "milk",
  expression: "12 times 7", sum: "12 times 7", count: "three", language: "French", name: "Ada",
};

function made(tool, example, place) {
  const gaps = [...example.matchAll(SLOT)].map((match) => match[1]);
  const open = gaps.filter((name) => !(name in USUAL)).length;
  const gentle = tool.risk === "read" ? 0.3 : tool.risk === "exec" ? -3 : 0;
  const whole = open ? -2 * open : gaps.length ? 1.5 : 0.5;
  const plain = Math.min(example.split(" ").length, 5) * 0.15 - place * 0.1;
  const main = Math.min(tool.examples.length, 12) * 0.06;
  const score = gentle + whole + plain + main - (UNKIND.test(example) ? 9 : 0) - (VAGUE.test(example) ? 2 : 0) - (HOUSE.test(example) ? 3 : 0);
  return { tool: tool.name, plugin: tool.plugin, text: example.charAt(0).toUpperCase() + example.slice(1), score, open: open > 0, gaps: gaps.length, gentle: tool.risk === "read" };
}

function best(tool) {
  const all = [...tool.taught, ...tool.examples].map((example, place) => made(tool, example, place));
  return all.reduce((one, other) => (other.score > one.score ? other : one));
}

// One of each plugin first; a second one of a plugin only where it is clearly the better sentence.
const AGAIN = 0.95;

export function suggestions(tools, most = 6) {
  const left = tools.filter((tool) => tool.on && (tool.examples.length || tool.taught.length)).map(best).filter((one) => one.score > -6);
  const used = new Map();
  const worth = (one) => one.score - AGAIN * (used.get(one.plugin) || 0);
  const found = [];
  while (left.length && found.length < most) {
    const next = left.reduce((one, other) => (worth(other) > worth(one) ? other : one));
    left.splice(left.indexOf(next), 1);
    used.set(next.plugin, (used.get(next.plugin) || 0) + 1);
    found.push(next);
  }
  return found;
}

// The sentence in pieces: { text } as it stands, { value } where an everyday value was put, { gap } where one is missing.
export function parts(text) {
  const pieces = [];
  let from = 0;
  for (const match of text.matchAll(SLOT)) {
    if (match.index > from) pieces.push({ text: text.slice(from, match.index) });
    const name = match[1];
    pieces.push(name in USUAL ? { value: USUAL[name] } : { gap: name.replaceAll("_", " ") });
    from = match.index + match[0].length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from) });
  return pieces;
}

// The sentence for the box, and what in it is to be chosen: the first gap, else the first value that was put there.
export function filled(text) {
  let whole = "";
  let chosen = null;
  let certain = false;
  for (const piece of parts(text)) {
    const words = piece.text ?? piece.value ?? piece.gap;
    if (piece.text === undefined && (!chosen || (!certain && piece.gap !== undefined))) {
      chosen = [whole.length, whole.length + words.length];
      certain = piece.gap !== undefined;
    }
    whole += words;
  }
  return { text: whole, chosen };
}
