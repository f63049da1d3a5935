// Accounts: mailboxes, wallets, servers and keys that the owner keeps here, and which plugin may have which.
// Above: `main`. Below: `state`, `api`. It refuses to know: any secret; what was given once is never shown again.

import { html, useEffect, useState } from "../vendor/htm-preact.js";
import { api, paths } from "./api.js";
import { Confirm, Page, ToolTabs } from "./parts.js";
import { attempt } from "./state.js";
import { Sentence, Words } from "./text.js";

export function Accounts() {
  const [given, setGiven] = useState(null);
  const [edited, setEdited] = useState("");
  const take = (found) => {
    if (found) setGiven(found);
    return found;
  };
  useEffect(() => {
    attempt(() => api.get("/api/accounts")).then(take);
  }, []);
  const tabs = html`<${ToolTabs} page="accounts" />`;
  if (!given) return html`<${Page} title="Accounts" actions=${tabs}><p class="quiet">Looking…</p></${Page}>`;
  return html`<${Page} title="Accounts" name="accounts" actions=${tabs} lead="What plugins need to act in your name. Secrets go in and never come out again, but to a plugin to which you gave that account, while it works.">
    ${given.trouble && html`<p class="wrong" role="alert"><${Words} text=${given.trouble} /></p>`}
    ${given.kinds.map((kind) => html`<${Kind} key=${kind.name} kind=${kind} all=${given} edited=${edited} onEdit=${setEdited} onTaken=${take} />`)}
  </${Page}>`;
}

function Kind({ kind, all, edited, onEdit, onTaken }) {
  const mine = all.accounts.filter((one) => one.kind === kind.name);
  const adding = edited === `${kind.name}:`;
  const full = kind.only && mine.length > 0;
  return html`<section class="part account-kind" aria-label=${kind.title}>
    <header><h3>${kind.title}</h3>${!adding && !full && html`<button type="button" class="small" aria-label=${`Add: ${kind.title}`} onClick=${() => onEdit(`${kind.name}:`)}>Add</button>`}</header>
    <p class="hint"><${Sentence} text=${kind.about} /></p>
    ${mine.map((one) => (edited === `${kind.name}:${one.name}` ? html`<${Form} key=${one.name} kind=${kind} account=${one} onDone=${() => onEdit("")} onTaken=${onTaken} />` : html`<${Account} key=${one.name} kind=${kind} account=${one} all=${all} onEdit=${onEdit} onTaken=${onTaken} />`))}
    ${adding && html`<${Form} kind=${kind} onDone=${() => onEdit("")} onTaken=${onTaken} />`}
  </section>`;
}

function Account({ kind, account, all, onEdit, onTaken }) {
  const [asking, setAsking] = useState(false);
  const path = paths.account(kind.name, account.name);
  const forget = async () => {
    setAsking(false);
    onTaken(await attempt(() => api.remove(path)));
  };
  const give = async (plugin, on, name = account.name) => onTaken(await attempt(() => api.post(`${paths.account(kind.name, name)}/grant`, { plugin, on })));
  const others = all.plugins.filter((one) => !account.plugins.includes(one));
  // Who was given every account of the kind has this one too, and loses it with all of them.
  const take = (plugin) => give(plugin, false, all.given[plugin].includes(`${kind.name}:${account.name}`) ? account.name : all.every);
  return html`<div class="account">
    <div class="account-head"><strong><${Words} text=${account.name} /></strong>
      <button type="button" class="small" aria-label=${`Change ${account.name}`} onClick=${() => onEdit(`${kind.name}:${account.name}`)}>Change</button>
      <button type="button" class="small danger" aria-label=${`Forget ${account.name}`} onClick=${() => setAsking(true)}>Forget</button></div>
    ${asking && html`<${Confirm} title=${`Forget ${kind.title} “${account.name}”?`} yes="Forget it" danger=${true} onYes=${forget} onNo=${() => setAsking(false)}><p>Its secrets are forgotten with it.</p></${Confirm}>`}
    <dl>${kind.fields.filter((field) => account.values[field.name] !== undefined || account.set.includes(field.name)).map((field) => html`<div key=${field.name}><dt>${field.label}</dt><dd>${field.secret ? html`<span class="badge good">given</span>` : html`<${Words} text=${String(account.values[field.name])} />`}</dd></div>`)}</dl>
    <div class="tags" role="group" aria-label=${`Who may have ${account.name}`}>
      ${account.plugins.length ? account.plugins.map((plugin) => html`<span key=${plugin} class="badge"><${Words} text=${plugin} /><button type="button" class="plain-button" aria-label=${`Take it back from ${plugin}`} onClick=${() => take(plugin)}>×</button></span>`) : html`<span class="quiet">No plugin may have it.</span>`}
      ${others.length > 0 && html`<select aria-label=${`Give ${account.name} to a plugin`} value="" onChange=${(event) => event.target.value && give(event.target.value, true)}><option value="">give it to…</option>${others.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}</select>`}
    </div>
  </div>`;
}

function Form({ kind, account, onDone, onTaken }) {
  const [wrong, setWrong] = useState("");
  const [busy, setBusy] = useState(false);
  const [usual, rare] = [kind.fields.filter((field) => !field.rare), kind.fields.filter((field) => field.rare)];
  const save = async (event) => {
    event.preventDefault();
    const fields = new FormData(event.target);
    const values = {};
    for (const field of kind.fields) {
      const text = String(fields.get(field.name) ?? "");
      if (field.kind === "switch") values[field.name] = fields.has(field.name);
      else if (text || !field.secret) values[field.name] = text;
    }
    setBusy(true);
    try {
      onTaken(await api.put(paths.account(kind.name, account?.name || kind.only || String(fields.get("account name"))), { values }));
      onDone();
    } catch (error) {
      setWrong(error.message);
      setBusy(false);
    }
  };
  return html`<form class="account account-form" onSubmit=${save} autocomplete="off" aria-label=${account ? `Change ${account.name}` : `A new account: ${kind.title}`}>
    ${!account && !kind.only && html`<label><span>Name</span><input name="account name" required maxlength="64" placeholder="default" spellcheck="false" /></label>`}
    ${usual.map((field) => html`<${Input} key=${field.name} field=${field} account=${account} />`)}
    ${rare.length > 0 && html`<details class="detail"><summary>What is seldom typed</summary><div>${rare.map((field) => html`<${Input} key=${field.name} field=${field} account=${account} />`)}</div></details>`}
    ${wrong && html`<p class="wrong" role="alert"><${Words} text=${wrong} /></p>`}
    <div class="buttons"><button class="primary" disabled=${busy}>Keep it</button><button type="button" onClick=${onDone}>Leave it</button></div>
  </form>`;
}

function Input({ field, account }) {
  const value = account?.values[field.name] ?? "";
  const given = account?.set.includes(field.name);
  if (field.kind === "switch") return html`<label class="account-switch"><input type="checkbox" name=${field.name} checked=${account ? value !== false : field.default} /><span>${field.label}</span></label>`;
  if (field.choices.length) return html`<label><span>${field.label}</span><select name=${field.name} value=${value || field.default}>${field.choices.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}</select></label>`;
  if (field.secret) return html`<label><span>${field.label}</span><input type="password" name=${field.name} autocomplete="new-password" placeholder=${given ? "given; empty leaves it" : ""} /></label>`;
  return html`<label><span>${field.label}${field.needed ? html`<span class="needed">needed</span>` : ""}</span><input name=${field.name} value=${value} inputmode=${field.kind === "number" ? "decimal" : undefined} placeholder=${field.default ?? ""} spellcheck="false" /></label>`;
}
