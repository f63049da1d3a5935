// Pictures to look at: single ones, numbered rows of tiles, and one large in front of everything, moved through by keys.
// Above: `steps` and the chat. Below: `text` for links, `parts`. It refuses to know: where the pictures are kept.
// Every address is one of this host's own, and a plugin's route one of the very plugin: what a result names besides is not loaded.

import { html, useLayoutEffect, useRef, useState } from "../vendor/htm-preact.js";
import { Icon } from "./parts.js";
import { Words, safeLink } from "./text.js";

const HANDLE = /^img:([0-9a-f]{12}\.(?:jpg|png))$/;
const ROUTE = /^\/api\/plugin\/([A-Za-z0-9_-]+)\/[A-Za-z0-9_./%-]+(?:\?[A-Za-z0-9_=&%.-]*)?$/;
const OUTSIDE = /^\/api\/outside\?u=[A-Za-z0-9_.~%-]+$/;
const MOST = 200;

// `at` is where the mark stands: its chat, its call, and the name under which its plugin's routes lie.
function address(given, at) {
  if (typeof given !== "string") return "";
  const handle = HANDLE.exec(given);
  if (handle) return at.chat ? `/api/chats/${encodeURIComponent(at.chat)}/images/${handle[1]}` : `/api/images/${handle[1]}`;
  if (OUTSIDE.test(given)) return at.call ? `${given}&call=${encodeURIComponent(at.call)}` : "";
  return ROUTE.exec(given)?.[1] === at.owner && plain(given) ? given : "";
}

// The browser asks for just what is written: it takes "%2e%2e" for ".." and would go up to somebody else's address.
function plain(given) {
  return !given.includes("..") && !given.includes("//") && new URL(given, location.origin).pathname === given.split("?")[0];
}

// Any form of the mark as { title, items }; an item is { src, full, title, page }, with an empty `src` where nothing may be loaded.
export function opened(mark, at) {
  const list = Array.isArray(mark) ? mark : Array.isArray(mark?.items) ? mark.items : [];
  const items = list.slice(0, MOST).map((one) => {
    const item = typeof one === "string" ? { thumb: one } : one && typeof one === "object" ? one : {};
    const src = address(item.handle, at) || address(item.thumb, at);
    const title = typeof item.title === "string" ? item.title : "";
    return { src, full: address(item.full, at) || src, title, page: typeof item.page === "string" ? safeLink(item.page) : null };
  });
  return { title: typeof mark?.title === "string" ? mark.title : "", items };
}

export function Gallery({ mark, at }) {
  const { title, items } = opened(mark, at);
  const [shown, setShown] = useState(null);
  if (!items.length) return null;
  return html`<figure class="gallery">
    ${title && html`<figcaption><${Words} text=${title} /></figcaption>`}
    <ol class="tiles" aria-label=${title || "Pictures"}>${items.map((item, index) => html`<li key=${index}><${Tile} item=${item} number=${index + 1} onOpen=${() => setShown(index)} /></li>`)}</ol>
    ${shown !== null && html`<${Lightbox} items=${items} first=${shown} onClose=${() => setShown(null)} />`}
  </figure>`;
}

function Tile({ item, number, onOpen }) {
  const [broken, setBroken] = useState(false);
  const named = `Picture ${number}${item.title ? `: ${item.title}` : ""}`;
  const whole = item.src && !broken;
  return html`<button type="button" class="tile" disabled=${!whole} aria-label=${whole ? named : `${named}, not shown`} title=${item.title} onClick=${onOpen}>
    ${whole ? html`<img src=${item.src} alt="" loading="lazy" onError=${() => setBroken(true)} />` : html`<span class="tile-gone">${item.src ? "gone" : "not shown"}</span>`}
    <span class="tile-number" aria-hidden="true">${number}</span>
  </button>
  ${item.title && (item.page && !whole ? html`<a class="tile-title" href=${item.page} target="_blank" rel="noopener noreferrer nofollow"><${Words} text=${item.title} /></a>` : html`<span class="tile-title"><${Words} text=${item.title} /></span>`)}`;
}

// Single pictures, each opened large by a click; `items` are { src, alt, withheld }.
export function Pictures({ items }) {
  const [shown, setShown] = useState(null);
  const large = items.map((one) => ({ src: one.src, full: one.src, title: one.alt || "", page: null }));
  return html`${items.map(
    (one, index) => html`<figure key=${one.src} class="picture-box"><a class="picture" href=${one.src} target="_blank" rel="noopener" onClick=${(event) => open(event, () => setShown(index))}><img src=${one.src} alt=${one.alt || "An image from a tool"} loading="lazy" /></a>
      ${one.withheld && html`<figcaption class="quiet">Only you see this picture; the model does not.</figcaption>`}</figure>`,
  )}
  ${shown !== null && html`<${Lightbox} items=${large} first=${shown} onClose=${() => setShown(null)} />`}`;
}

// A plain click opens it here; with a key held it is a link like any other.
function open(event, show) {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button) return;
  event.preventDefault();
  show();
}

function Lightbox({ items, first, onClose }) {
  const box = useRef(null);
  const [at, setAt] = useState(first);
  const seen = items.map((item, index) => (item.full ? index : -1)).filter((index) => index >= 0);
  useLayoutEffect(() => {
    const before = document.activeElement;
    box.current.showModal();
    box.current.focus();
    return () => before?.focus?.({ preventScroll: true });
  }, []);
  const move = (by) => setAt((now) => seen[(seen.indexOf(now) + by + seen.length) % seen.length]);
  const keys = (event) => {
    const go = { ArrowLeft: () => move(-1), ArrowRight: () => move(1), Home: () => setAt(seen[0]), End: () => setAt(seen.at(-1)) }[event.key];
    if (!go || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    go();
  };
  const item = items[at];
  const many = seen.length > 1;
  return html`<dialog class="lightbox" tabindex="-1" ref=${box} aria-label="Picture" onClose=${onClose} onKeyDown=${keys} onClick=${(event) => event.target === box.current && box.current.close()}>
    <figure>
      <img key=${item.full} src=${item.full} alt=${item.title || `Picture ${at + 1}`} />
      <figcaption aria-live="polite">${many && html`<span class="lightbox-number">${at + 1} of ${items.length}</span>`}${item.title && html`<span class="lightbox-title"><${Words} text=${item.title} /></span>`}${item.page && html`<a href=${item.page} target="_blank" rel="noopener noreferrer nofollow">Source: ${new URL(item.page).host}</a>`}</figcaption>
    </figure>
    <button type="button" class="lightbox-button lightbox-close" aria-label="Close" title="Close (Esc)" onClick=${() => box.current.close()}><${Icon} name="close" /></button>
    ${many && html`<button type="button" class="lightbox-button lightbox-before" aria-label="The picture before" title="Before (←)" onClick=${() => move(-1)}><${Icon} name="back" /></button>
      <button type="button" class="lightbox-button lightbox-next" aria-label="The next picture" title="Next (→)" onClick=${() => move(1)}><${Icon} name="on" /></button>`}
  </dialog>`;
}
