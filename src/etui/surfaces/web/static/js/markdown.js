// An answer as models write it: paragraphs, lists, headings, tables, code. Marks become looks and nothing else: no HTML, no
// picture, and no link whose address is not in sight. Each line is read in one pass, however long it is.
// Above: the chat. Below: `text`. It refuses to know: who wrote it.

import { html } from "../vendor/htm-preact.js";
import { Copy, Same } from "./parts.js";
import { Words } from "./text.js";

const FENCE = /^(\s*)(`{3,}(?=[^`]*$)|~{3,})/;
const HEADING = /^ {0,3}#{1,6}(?=\s)/;
const ITEM = /^(\s*)([-*+•]|\d{1,3}[.)])\s+(?:\[([ xX])\]\s+)?(\S.*)$/s;
const QUOTE = /^ {0,3}>\s?(.*)$/s;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const ROW = /^\s*\|.*\|\s*$/s;
const DIVIDER = /^\s*\|(?:\s*:?-+:?\s*\|)+\s*$/;
const MORE = /^\s{2,}\S/;
const BEGUN = /^(?:[-*+•_]{1,2}|\d{1,3}[.)]?|#{1,6}|`{1,2}|~{1,2}|>)?$/;
const INLINE = /`([^`\n]+)`|\*\*\*(?=[^\s*])([^*\n]+)\*\*\*|\*\*(?=[^\s*])((?:[^*\n]|\*(?!\*))+?)\*\*|(?<![\w*])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])|!?\[([^[\]\n]+)\]\((https?:\/\/(?:[^\s()]|\([^\s()]*\))+)(?:\s"[^"\n]*")?\)|\\([*_])/g;

const cells = (row) => row.trim().slice(1, -1).split(/(?<!\\)\|/).map((one) => one.trim().replaceAll("\\|", "|").replace(/<br ?\/?>/gi, "\n"));

function heading(line) {
  const marks = line.match(HEADING);
  if (!marks) return "";
  const words = line.slice(marks[0].length).trim();
  let end = words.length;
  while (words[end - 1] === "#") end -= 1;
  return end && /\s/.test(words[end - 1]) ? words.slice(0, end).trimEnd() : words;
}

// Where the code that begins here ends: at its own mark, or with the text.
function closing(lines, at, mark) {
  for (let next = at + 1; next < lines.length; next += 1) {
    const line = lines[next].trim();
    if (line.length >= mark.length && line === mark[0].repeat(line.length)) return next;
  }
  return lines.length;
}

function isOpen(lines) {
  for (let at = 0; at < lines.length; at += 1) {
    const fence = lines[at].match(FENCE);
    if (fence && (at = closing(lines, at, fence[2])) === lines.length) return true;
  }
  return false;
}

// Of lines that are still being written: what may yet become a mark waits, and a row that has begun is one.
function tidy(lines) {
  const last = () => lines.at(-1) ?? "";
  if (isOpen(lines)) {
    if (/^\s*(?:`+|~+)$/.test(last()) && lines.length > 1) lines.pop();
    return;
  }
  if (BEGUN.test(last().trim())) lines.pop();
  if (!/^\s*\|/.test(last())) return;
  const [before, head] = [lines.at(-3) ?? "", lines.at(-2) ?? ""];
  if (!ROW.test(head)) lines.pop();
  else if (!ROW.test(before) && /^[\s|:-]*$/.test(last())) lines[lines.length - 1] = "|-|";
  else if (!last().trimEnd().endsWith("|")) lines[lines.length - 1] += "|";
}

// A run of words that ends within a mark, as it looks once the mark has its end.
function closed(text) {
  const words = text.replace(/[*`[]{1,3}$/, "");
  const line = words.slice(words.lastIndexOf("\n") + 1);
  if ((line.split("`").length - 1) % 2) return `${words}\``;
  if ((line.split("**").length - 1) % 2) return `${words.trimEnd()}**`;
  if (/(?:^|[^\w*])\*[^\s*][^*]*$/.test(line)) return `${words.trimEnd()}*`;
  return /\]\(https?:\/\/[^\s()]+$/.test(line.slice(-2000)) ? `${words})` : words;
}

// The text as a list of blocks; what has no mark is one paragraph, as it stands. `growing`: more of it comes.
export function blocks(text, growing = false) {
  const lines = text.split(/\r?\n/);
  if (growing) tidy(lines);
  const found = [];
  let plain = [];
  const flush = () => {
    const first = plain.findIndex((one) => one);
    const words = first < 0 ? "" : plain.slice(first).join("\n").trimEnd();
    if (words) found.push({ kind: "words", text: words });
    plain = [];
  };
  const add = (block) => {
    flush();
    found.push(block);
  };
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at];
    const fence = line.match(FENCE);
    const item = line.match(ITEM);
    const last = found.at(-1);
    if (fence) {
      const end = closing(lines, at, fence[2]);
      const indent = fence[1].length;
      add({ kind: "code", text: lines.slice(at + 1, end).map((one) => (one.slice(0, indent).trim() ? one.trimStart() : one.slice(indent))).join("\n") });
      at = end;
    } else if (RULE.test(line)) {
      add({ kind: "rule" });
    } else if (heading(line)) {
      add({ kind: "heading", text: heading(line) });
    } else if (ROW.test(line) && DIVIDER.test(lines[at + 1] || "")) {
      const rows = [];
      let next = at + 2;
      for (; next < lines.length && ROW.test(lines[next]); next += 1) rows.push(cells(lines[next]));
      add({ kind: "table", head: cells(line), rows });
      at = next - 1;
    } else if (item) {
      const [, space, mark, box, words] = item;
      const one = { depth: Math.min(3, Math.floor(space.replaceAll("\t", "    ").length / 2)), mark: box ? (box === " " ? "☐" : "☑") : /\d/.test(mark) ? mark : "•", text: words };
      if (last?.kind === "list" && plain.every((gap) => !gap.trim())) last.items.push(one);
      else add({ kind: "list", items: [one] });
      plain = [];
    } else if (!plain.length && last?.kind === "list" && MORE.test(line)) {
      last.items.at(-1).text += `\n${line.trim()}`;
    } else if (QUOTE.test(line)) {
      const words = line.match(QUOTE)[1];
      if (!plain.length && last?.kind === "quote") last.text += `\n${words}`;
      else add({ kind: "quote", text: words });
    } else plain.push(line);
  }
  flush();
  const end = found.at(-1);
  if (!growing || !end || end.kind === "code") return found;
  if (end.kind === "list") end.items.at(-1).text = closed(end.items.at(-1).text);
  else if (end.rows?.length) end.rows.at(-1).push(closed(end.rows.at(-1).pop()));
  else if (end.text) end.text = closed(end.text);
  return found;
}

// One run of words with what is bold, slanted or code in it; of a picture its name and where it lies.
export function inline(text) {
  const made = [];
  let from = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, code, both, strong, slanted, label, url, bare] = match;
    if (match.index > from) made.push(html`<${Words} text=${text.slice(from, match.index)} />`);
    if (code) made.push(html`<code><${Words} text=${code} /></code>`);
    else if (both) made.push(html`<strong><em>${inline(both)}</em></strong>`);
    else if (strong) made.push(html`<strong>${inline(strong)}</strong>`);
    else if (slanted) made.push(html`<em>${inline(slanted)}</em>`);
    else if (bare) made.push(bare);
    else made.push(label === url ? html`<${Words} text=${url} />` : html`<bdi>${inline(label)}</bdi> (<${Words} text=${url} />)`);
    from = match.index + whole.length;
  }
  if (from < text.length) made.push(html`<${Words} text=${text.slice(from)} />`);
  return made;
}

const DRAWN = {
  words: ({ text }) => html`<p>${inline(text)}</p>`,
  heading: ({ text }) => html`<p class="md-heading" role="heading" aria-level="3">${inline(text)}</p>`,
  code: ({ text }) => html`<div class="md-code"><pre class="value" tabindex="0" role="group" aria-label="Code"><${Words} text=${text} /></pre><${Copy} text=${text} what="this code" /></div>`,
  quote: ({ text }) => html`<blockquote>${inline(text)}</blockquote>`,
  rule: () => html`<hr />`,
  list: ({ items }) => html`<ul class="md-list" role="list">${items.map((one) => html`<li class=${`deep-${one.depth}`}><span class="md-mark">${one.mark}</span>${" "}${inline(one.text)}</li>`)}</ul>`,
  table: ({ head, rows }) => html`<div class="md-table" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${head.map((one) => html`<th scope="col">${inline(one)}</th>`)}</tr></thead><tbody>${rows.map((row) => html`<tr>${row.map((one) => html`<td>${inline(one)}</td>`)}</tr>`)}</tbody></table></div>`,
};

export function Markdown({ text, growing = false }) {
  const found = blocks(String(text ?? ""), growing);
  if (!found.length) return null;
  if (found.length === 1 && found[0].kind === "words") return inline(found[0].text);
  return html`<div class="md">${found.map((block, index) => html`<${Same} key=${index} by=${[JSON.stringify(block)]} draw=${() => DRAWN[block.kind](block)} />`)}</div>`;
}
