// An answer as models write it: paragraphs, lists, headings, tables, code. Marks become looks and nothing else: no HTML, no
// picture, and no link whose address is not in sight.
// Above: the chat. Below: `text`. It refuses to know: who wrote it.

import { html } from "../vendor/htm-preact.js";
import { Words } from "./text.js";

const FENCE = /^\s{0,3}(`{3,}|~{3,})\s*[\w+#.-]*\s*$/;
const HEADING = /^ {0,3}#{1,6}\s+(.+?)\s*#*$/;
const ITEM = /^(\s*)([-*+•]|\d{1,3}[.)])\s+(\S.*)$/;
const QUOTE = /^ {0,3}>\s?(.*)$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const ROW = /^\s*\|.*\|\s*$/;
const DIVIDER = /^\s*\|(?:\s*:?-+:?\s*\|)+\s*$/;
const INLINE = /(`[^`\n]+`)|\*\*(?=[^\s*])((?:[^*\n]|\*(?!\*))+?)\*\*|(?<![\w*])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])|\[([^\]\n]+)\]\((https?:\/\/[^\s()]+)\)/g;

const cells = (row) => row.trim().slice(1, -1).split("|").map((one) => one.trim());

// The text as a list of blocks; what has no mark is one paragraph, as it stands.
export function blocks(text) {
  const lines = text.split("\n");
  const found = [];
  let plain = [];
  const flush = () => {
    const words = plain.join("\n").replace(/^\n+|\s+$/g, "");
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
    if (fence) {
      const close = lines.findIndex((one, index) => index > at && one.trim().startsWith(fence[1]) && !one.trim().slice(fence[1].length).trim());
      const end = close < 0 ? lines.length : close;
      add({ kind: "code", text: lines.slice(at + 1, end).join("\n") });
      at = end;
    } else if (RULE.test(line)) {
      add({ kind: "rule" });
    } else if (HEADING.test(line)) {
      add({ kind: "heading", text: line.match(HEADING)[1] });
    } else if (ROW.test(line) && DIVIDER.test(lines[at + 1] || "")) {
      const rows = [];
      let next = at + 2;
      for (; next < lines.length && ROW.test(lines[next]); next += 1) rows.push(cells(lines[next]));
      add({ kind: "table", head: cells(line), rows });
      at = next - 1;
    } else if (item) {
      const one = { depth: Math.min(3, Math.floor(item[1].replaceAll("\t", "    ").length / 2)), mark: /\d/.test(item[2]) ? item[2] : "•", text: item[3] };
      const last = found.at(-1);
      if (!plain.join("").trim() && last?.kind === "list") last.items.push(one);
      else add({ kind: "list", items: [one] });
      plain = [];
    } else if (QUOTE.test(line)) {
      const words = line.match(QUOTE)[1];
      const last = found.at(-1);
      if (!plain.length && last?.kind === "quote") last.text += `\n${words}`;
      else add({ kind: "quote", text: words });
    } else plain.push(line);
  }
  flush();
  return found;
}

// One run of words with what is bold, slanted or code in it.
export function inline(text) {
  const made = [];
  let from = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, code, strong, slanted, label, url] = match;
    if (match.index > from) made.push(html`<${Words} text=${text.slice(from, match.index)} />`);
    if (code) made.push(html`<code><${Words} text=${code.slice(1, -1)} /></code>`);
    else if (strong) made.push(html`<strong>${inline(strong)}</strong>`);
    else if (slanted) made.push(html`<em>${inline(slanted)}</em>`);
    else made.push(html`${inline(label)} (<${Words} text=${url} />)`);
    from = match.index + whole.length;
  }
  if (from < text.length) made.push(html`<${Words} text=${text.slice(from)} />`);
  return made;
}

const DRAWN = {
  words: ({ text }) => html`<p>${inline(text)}</p>`,
  heading: ({ text }) => html`<p class="md-heading" role="heading" aria-level="3">${inline(text)}</p>`,
  code: ({ text }) => html`<pre class="value" tabindex="0"><${Words} text=${text} /></pre>`,
  quote: ({ text }) => html`<blockquote>${inline(text)}</blockquote>`,
  rule: () => html`<hr />`,
  list: ({ items }) => html`<ul class="md-list">${items.map((one) => html`<li class=${`deep-${one.depth}`}><span class="md-mark">${one.mark}</span><span>${inline(one.text)}</span></li>`)}</ul>`,
  table: ({ head, rows }) => html`<div class="md-table" tabindex="0"><table><thead><tr>${head.map((one) => html`<th>${inline(one)}</th>`)}</tr></thead><tbody>${rows.map((row) => html`<tr>${row.map((one) => html`<td>${inline(one)}</td>`)}</tr>`)}</tbody></table></div>`,
};

export function Markdown({ text }) {
  const found = blocks(String(text ?? ""));
  if (found.length === 1 && found[0].kind === "words") return inline(String(text));
  return html`<div class="md">${found.map((block) => DRAWN[block.kind](block))}</div>`;
}
