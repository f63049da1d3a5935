// Small things that several pages show: icons, marks, badges, switches, empty pages.
// Above: every page. Below: the view library, `text`. It refuses to know: the state.

import { Component, html, useEffect, useRef, useState } from "../vendor/htm-preact.js";
import { Words } from "./text.js";

const ICONS = {
  chat: "M4 6.5A2.5 2.5 0 0 1 6.5 4h11A2.5 2.5 0 0 1 20 6.5v7a2.5 2.5 0 0 1-2.5 2.5H11l-4.5 4v-4A2.5 2.5 0 0 1 4 13.5z",
  tools: "M14.5 5.5a4 4 0 0 0-5 5L4 16l4 4 5.5-5.5a4 4 0 0 0 5-5L16 12l-2.5-.5L13 9z",
  clock: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4.5l3 2",
  list: "M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01",
  gear: "M5 7h9M18 7h1M5 17h1M10 17h9M16 4.8v4.4M8 14.8v4.4M5 12h3M12 12h7M10 9.8v4.4",
  info: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 11.2v5M12 7.9h.01",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M7 7h10v10H7z",
  plus: "M12 5v14M5 12h14",
  pen: "M5 19l1-4L16.5 4.5l3 3L9 18z",
  bin: "M5 7h14M10 7V5h4v2M7 7l1 12h8l1-12M10.5 11v5M13.5 11v5",
  rub: "M10 19h10M13.5 5l5.5 5.5-8 8H8L4.5 15zM9 9.5l5.5 5.5",
  voice: "M5 10v4h3l4 3.5v-11L8 10zM15.5 9a4.5 4.5 0 0 1 0 6M18 6.5a8 8 0 0 1 0 11",
  mute: "M5 10v4h3l4 3.5v-11L8 10zM16 10l4 4M20 10l-4 4",
  close: "M6 6l12 12M18 6L6 18",
  case: "M4 9h16v10H4zM9 9V6h6v3M4 13.5h16",
  back: "M14 6l-6 6 6 6",
  on: "M10 6l6 6-6 6",
  lock: "M7 11h10v8H7zM9 11V8.5a3 3 0 0 1 6 0V11",
  file: "M7 4h7l4 4v12H7zM14 4v4h4",
  copy: "M9 9h10v11H9zM15 9V4H5v11h4",
  done: "M5 12.5l4.5 4.5L19 7.5",
  menu: "M4 7h16M4 12h16M4 17h16",
  spark: "M12 4l1.8 6.2L20 12l-6.2 1.8L12 20l-1.8-6.2L4 12l6.2-1.8z",
};

export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d=${ICONS[name]} /></svg>`;
}

export const ENDS = {
  running: ["…", "running", "busy"],
  ok: ["✓", "done", "good"],
  refused: ["–", "refused", "calm"],
  needs_approval: ["?", "needed a yes", "calm"],
  failed: ["!", "failed", "bad"],
  timed_out: ["!", "took too long", "bad"],
  cancelled: ["■", "stopped", "calm"],
  crashed: ["!", "crashed", "bad"],
  unknown: ["?", "may have happened", "bad"],
};

const COLOURS = { green: "good", grey: "calm", red: "bad" };

// The colour follows the host's mark where it gave one.
export function Mark({ status, mark }) {
  const [sign, words, kind] = ENDS[status] || ["?", status, "calm"];
  return html`<span class=${`mark ${COLOURS[mark] || kind}`} title=${words} aria-hidden="true">${status === "running" ? html`<span class="spin"></span>` : sign}</span>`;
}

export function ending(status) {
  return (ENDS[status] || ["", String(status)])[1];
}

export function Switch({ on, label, onChange, busy = false }) {
  return html`<button type="button" class="switch" role="switch" aria-checked=${on ? "true" : "false"} aria-label=${label} disabled=${busy} onClick=${() => onChange(!on)}><span class="knob"></span></button>`;
}

// Asks before something is done that a person may not want; what stands in it says more.
export function Confirm({ title, yes, danger = false, onYes, onNo, children }) {
  const box = useRef(null);
  useEffect(() => {
    box.current?.showModal();
  }, []);
  return html`<dialog class="confirm" ref=${box} role="alertdialog" aria-labelledby="confirm-title" onCancel=${(event) => (event.preventDefault(), onNo())}>
    <h3 id="confirm-title"><${Words} text=${title} /></h3>
    ${children}
    <div class="buttons"><button type="button" class=${danger ? "danger" : "primary"} onClick=${onYes}><${Words} text=${yes} /></button><button type="button" autofocus=${danger} onClick=${onNo}>Cancel</button></div>
  </dialog>`;
}

export function Empty({ title, children }) {
  return html`<div class="empty"><h2>${title}</h2>${children}</div>`;
}

export function Page({ title, lead, actions, children, name }) {
  return html`<div class=${`page ${name || ""}`}>
    <header class="page-head"><div><h1 tabindex="-1">${title}</h1>${lead && html`<p class="lead">${lead}</p>`}</div>${actions}</header>
    ${children}
  </div>`;
}

// Puts the text on the clipboard as it was written, whatever of it is seen; not there where the browser does not let it.
export function Copy({ text, what }) {
  const [done, setDone] = useState(false);
  if (!navigator.clipboard) return null;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setDone(true);
    } catch {
      setDone(false); // The browser said no; the text can still be selected.
    }
  };
  return html`<button type="button" class="copy" title=${done ? "Copied" : `Copy ${what}`} aria-label=${`Copy ${what}`} onClick=${copy} onBlur=${() => setDone(false)} onPointerLeave=${() => setDone(false)}><${Icon} name=${done ? "done" : "copy"} /></button><span class="sr" role="status">${done ? "Copied" : ""}</span>`;
}

const TABS = [["tools", "Tools"], ["plugins", "Plugins"], ["toolsets", "Toolsets"], ["accounts", "Accounts"]];

// The pages that stand under the one of the tools, with their titles.
export const UNDER_TOOLS = new Map(TABS.slice(1));

// The pages around tools, beside their title.
export function ToolTabs({ page }) {
  return html`<nav class="tabs" aria-label="Around tools">${TABS.map(([name, words]) => html`<a key=${name} href=${`#/${name}`} aria-current=${name === page ? "page" : undefined}>${words}</a>`)}</nav>`;
}

// Draws its children again only when one of the named properties is another one.
export class Same extends Component {
  shouldComponentUpdate(next) {
    return next.by.some((one, index) => one !== this.props.by[index]) || next.by.length !== this.props.by.length;
  }

  render({ draw }) {
    return draw();
  }
}
