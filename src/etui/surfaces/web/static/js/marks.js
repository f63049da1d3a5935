// Marks in a result's text that stand for something to be drawn: pictures, galleries, files, questions.
// Above: `steps` and `gallery` draw what is found. Below: nothing. It refuses to know: how anything is drawn.
// A mark lies in one line. What cannot be read is drawn as nothing, and never shown as text.

const TAG = /<<[A-Z]+::(?:[^<>\n]|<(?!<))+>>\s*/g;
const MARK = /<!--(GALLERY|FILES|ASK):(?=[[{])/;
const known = new Map();
const KEPT = 200;

// The words without marks, and what the marks hold, as they stand.
export function marks(text) {
  const whole = String(text ?? "");
  if (!whole.includes("<<") && !whole.includes("<!--")) return { words: whole, galleries: [], files: [], asks: [] };
  let found = known.get(whole);
  if (!found) {
    found = read(whole);
    known.set(whole, found);
    if (known.size > KEPT) known.delete(known.keys().next().value);
  }
  return found;
}

export function words(text) {
  return marks(text).words;
}

function read(whole) {
  const found = { galleries: [], files: [], asks: [] };
  const kept = [];
  for (const line of whole.replace(TAG, "").split("\n")) {
    const start = line.includes("<!--") ? MARK.exec(line) : null;
    const end = start ? Math.max(line.lastIndexOf("}-->"), line.lastIndexOf("]-->")) : -1;
    if (!start || end < start.index) {
      kept.push(line);
      continue;
    }
    const value = parsed(line.slice(start.index + start[0].length, end + 1));
    if (start[1] === "GALLERY" && value) found.galleries.push(value);
    else if (start[1] === "FILES" && value) found.files.push(value);
    else if (start[1] === "ASK" && value) found.asks.push(value);
    const rest = (line.slice(0, start.index) + line.slice(end + 4)).trimEnd();
    if (rest) kept.push(rest);
  }
  return { ...found, words: kept.join("\n").trimEnd() };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
