// Talking to the host: JSON in, JSON out, and a sentence when it says no.
// Above: every page. Below: fetch. It refuses to know: what any answer means.

export class Refused extends Error {
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

async function ask(method, path, value) {
  const options = { method, headers: { "X-Etui": "1" }, credentials: "same-origin" };
  if (method === "GET") options.signal = AbortSignal.timeout(15_000);
  if (value !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(value);
  }
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Refused(0, "Etui cannot be reached. Is it still running?");
  }
  let given;
  try {
    given = await answer.json();
  } catch {
    throw new Refused(answer.status, `Etui gave an answer that cannot be read (${answer.status}).`);
  }
  if (!answer.ok) throw new Refused(answer.status, given.error || `Etui said no (${answer.status}).`);
  return given;
}

const part = encodeURIComponent;

export const api = {
  get: (path) => ask("GET", path),
  post: (path, value = {}) => ask("POST", path, value),
  put: (path, value) => ask("PUT", path, value),
  patch: (path, value) => ask("PATCH", path, value),
  remove: (path, value) => ask("DELETE", path, value),
};

export const paths = {
  chat: (id) => `/api/chats/${part(id)}`,
  tool: (name) => `/api/tools/${part(name)}`,
  card: (id) => `/api/cards/${part(id)}`,
  reminder: (id) => `/api/reminders/${part(id)}`,
  plugin: (name) => `/api/plugins/${part(name)}`,
  job: (id) => `/api/jobs/${part(id)}`,
  setting: (name) => `/api/settings/${part(name)}`,
  toolset: (name) => `/api/toolsets/${part(name)}`,
  account: (kind, name) => `/api/accounts/${part(kind)}/${part(name)}`,
  blob: (id) => `/api/blobs/${part(id)}`,
};
