// The page: its frame, its ways, and the first paint.
// Above: nothing. Below: everything. It refuses to know: what is on any page.

import { html, render, useErrorBoundary } from "../vendor/htm-preact.js";
import { Accounts } from "./accounts.js";
import { Tray } from "./cards.js";
import { Chat } from "./chat.js";
import { connect } from "./events.js";
import { Face } from "./face.js";
import { join, show } from "./mood.js";
import { About, Audit, Reminders } from "./pages.js";
import { Icon, UNDER_TOOLS } from "./parts.js";
import { Plugins } from "./plugins.js";
import { Settings } from "./settings.js";
import { change, dismiss, load, loadTalk, onChange, state } from "./state.js";
import { Words } from "./text.js";
import { Tools } from "./tools.js";
import { Toolsets } from "./toolsets.js";

const PAGES = [
  ["chat", "Chat", "chat"],
  ["tools", "Tools", "tools"],
  ["reminders", "Reminders", "clock"],
  ["audit", "Audit", "list"],
  ["settings", "Settings", "gear"],
  ["about", "About", "info"],
];

function readRoute() {
  const [page = "chat", id = ""] = location.hash.replace(/^#\/?/, "").split("/").map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return "";
    }
  });
  return { page: UNDER_TOOLS.has(page) || PAGES.some(([name]) => name === page) ? page : "chat", id };
}

function arrive() {
  const route = readRoute();
  change({ route });
  if (route.page !== "chat" || route.id === state.watched) return;
  state.watched = route.id;
  if (state.live[route.id]) join(state.live[route.id]);
  else show("neutral");
}

function Nav() {
  const refused = state.problems.filter((one) => one.refused).length;
  const counts = { tools: refused ? html`<span class="count bad" title=${`${refused} refused`}>${refused}</span>` : "", reminders: state.reminders.length ? html`<span class="count">${state.reminders.length}</span>` : "" };
  return html`<nav class="nav" aria-label="Pages">${PAGES.map(
    ([name, words, icon]) => html`<a key=${name} href=${`#/${name}`} aria-current=${state.route.page === name || (name === "tools" && UNDER_TOOLS.has(state.route.page)) ? "page" : undefined}><${Icon} name=${icon} /><span>${words}</span>${counts[name] || ""}</a>`,
  )}</nav>`;
}

function Chats() {
  return html`<div class="chats">
    <a class="new-chat" href="#/chat"><${Icon} name="plus" />New chat</a>
    <h2 class="sr">Chats</h2>
    <ul>${state.chats.map((one) => html`<li key=${one.id}><a href=${`#/chat/${encodeURIComponent(one.id)}`} aria-current=${state.route.page === "chat" && state.route.id === one.id ? "page" : undefined} title=${one.channel === "console" ? "" : `from ${one.channel}`}><${Words} text=${one.title || "New chat"} />${state.live[one.id] && !state.live[one.id].ended ? html`<span class="spin" title="answering"></span>` : ""}</a></li>`)}</ul>
  </div>`;
}

function Toasts() {
  return html`<div class="toasts" role="status">${state.toasts.map((one) => html`<div key=${one.id} class=${`toast ${one.kind}`}>
    ${one.kind === "loud" && html`<${Icon} name="clock" />`}
    ${one.link ? html`<a href=${one.link} onClick=${() => dismiss(one.id)}><${Words} text=${one.text} /></a>` : html`<span><${Words} text=${one.text} /></span>`}
    <button type="button" class="plain-button" aria-label="Put this away" onClick=${() => dismiss(one.id)}><${Icon} name="close" /></button>
  </div>`)}</div>`;
}

function Current() {
  const { page, id } = state.route;
  if (page === "tools") return html`<${Tools} name=${id} />`;
  if (page === "plugins") return html`<${Plugins} name=${id} />`;
  if (page === "toolsets") return html`<${Toolsets} />`;
  if (page === "accounts") return html`<${Accounts} />`;
  if (page === "reminders") return html`<${Reminders} />`;
  if (page === "audit") return html`<${Audit} />`;
  if (page === "settings") return html`<${Settings} />`;
  if (page === "about") return html`<${About} />`;
  return html`<${Chat} key=${id} id=${id} />`;
}

function Guarded({ children }) {
  const [error, reset] = useErrorBoundary();
  if (!error) return children;
  return html`<div class="page"><h1>This page broke</h1><p>${String(error.message || error)}</p><div class="buttons"><button type="button" onClick=${reset}>Try again</button></div></div>`;
}

function App() {
  if (state.phase === "loading") return html`<main class="plain" aria-busy="true"><${Face} name="sleepy" size="large" /><p class="sr">Opening Etui</p></main>`;
  if (state.phase === "broken") return html`<main class="plain"><${Face} name="sad" size="large" /><h1>Etui does not answer</h1><p>${state.trouble}</p><div class="buttons"><button type="button" class="primary" onClick=${load}>Try again</button></div></main>`;
  if (state.phase === "signin") return html`<main class="plain"><${Face} name="confused" size="large" /><h1>Who is there?</h1><p>This browser is not signed in. Open the one-time link that <code>etui serve</code> (or <code>make run</code>) printed in the terminal, or make one on the About page of a browser that is signed in.</p><div class="buttons"><button type="button" onClick=${() => location.reload()}>Look again</button></div></main>`;
  return html`<a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    <div class=${`frame on-${state.route.page}`}>
      <aside class="side"><a class="brand" href="#/chat" aria-label="Etui, new chat"><svg class="logo" viewBox="0 0 32 32" aria-hidden="true"><rect class="logo-body" x="3" y="4" width="26" height="25" rx="8" /><path class="logo-lid" d="M3 13h26v-1a8 8 0 0 0-8-8H11a8 8 0 0 0-8 8z" /><rect class="logo-clasp" x="13" y="10.5" width="6" height="5" rx="1.6" /></svg><span>Etui</span></a><${Nav} /><${Chats} /></aside>
      <main id="main" tabindex="-1">
        ${!state.connected && html`<div class="banner" role="alert"><span>The connection to Etui is lost; trying again…</span><button type="button" onClick=${connect}>Try now</button></div>`}
        <${Guarded} key=${`${state.route.page}/${state.route.id}`}><${Current} /></${Guarded}>
      </main>
    </div>
    ${state.route.page !== "chat" && html`<${Tray} cards=${state.cards} />`}
    <${Toasts} />
    <div class="sr" aria-live="polite" id="spoken">${state.spoken}</div>`;
}

function skip(event) {
  event.preventDefault();
  document.getElementById("main").focus();
}

const root = document.getElementById("app");
onChange(() => {
  render(html`<${App} />`, root);
  const title = UNDER_TOOLS.get(state.route.page) || PAGES.find(([name]) => name === state.route.page)[1];
  const loud = state.toasts.find((one) => one.kind === "loud");
  document.title = loud && document.hidden ? `● ${loud.text}` : state.cards.length ? `(${state.cards.length}) Etui asks` : title === "Chat" ? "Etui" : `${title} · Etui`;
});
addEventListener("hashchange", () => {
  const before = state.route.page;
  arrive();
  for (const one of state.toasts) if (one.link === location.hash) dismiss(one.id);
  if (state.route.page === "chat" && state.route.id) loadTalk(state.route.id);
  if (state.route.page !== before) {
    scrollTo(0, 0);
    queueMicrotask(() => queueMicrotask(() => document.querySelector("main h1")?.focus({ preventScroll: true })));
  }
});
document.addEventListener("visibilitychange", () => change());
arrive();
show("neutral");
connect();
