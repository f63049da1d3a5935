// Files that a result offers: rows with a player for what can be heard and a button to save each.
// Above: the chat and a call's page. Below: `marks`, `state`, `text`. It refuses to know: what a route serves.
// Every address is a route of the very plugin whose result it is: whatever else a mark names is not drawn.

import { html, useState } from "../vendor/htm-preact.js";
import { marks } from "./marks.js";
import { Icon } from "./parts.js";
import { routeName } from "./state.js";
import { Words, line } from "./text.js";

const ROUTE = /^\/api\/plugin\/([A-Za-z0-9_-]+)\/[A-Za-z0-9_./-]+(?:\?[A-Za-z0-9_=&-]*)?$/;
const HEARD = /\.(?:mp3|wav|ogg|oga|m4a|flac)$/i;
const MOST = 12;
const LONGEST = 120;

// What of a mark may be drawn; `owner` is the plugin's own name, under which its routes lie.
export function offered(mark, owner) {
  const items = Array.isArray(mark?.items) ? mark.items : [];
  const found = items.flatMap((one) => {
    const url = typeof one?.url === "string" ? one.url : "";
    const match = ROUTE.exec(url);
    if (!match || match[1] !== owner || url.includes("..") || url.includes("//")) return [];
    const path = url.split("?")[0];
    const name = line(one.name, LONGEST) || path.slice(path.lastIndexOf("/") + 1) || "file";
    return [{ url, name, heard: HEARD.test(path) || HEARD.test(name) }];
  });
  return { title: line(mark?.title, LONGEST), items: found.slice(0, MOST) };
}

// The rows of these calls' results.
export function Files({ steps }) {
  return (steps || []).flatMap((step) => marks(step.shown).files.map((mark, index) => html`<${Row} key=${`${step.call}-${index}`} ...${offered(mark, routeName(step.plugin))} />`));
}

function Row({ title, items }) {
  if (!items.length) return null;
  return html`<figure class="files">
    ${title && html`<figcaption><${Words} text=${title} /></figcaption>`}
    <ul aria-label=${title || "Files"}>${items.map((one, index) => html`<li key=${index}><${File} ...${one} /></li>`)}</ul>
  </figure>`;
}

function File({ url, name, heard }) {
  const [silent, setSilent] = useState(false);
  return html`${heard && !silent && html`<audio controls preload="none" src=${url} aria-label=${`Play ${name}`} onError=${() => setSilent(true)}></audio>`}
    ${silent && html`<span class="quiet" role="status">This cannot be played (any more).</span>`}
    <a class="paper" href=${url} download=${name} title=${`Save ${name}`}><${Icon} name="file" /><${Words} text=${name} /></a>`;
}
