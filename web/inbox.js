// The inbox: what waits for an answer, live. Texts of calls are put in as text only.
"use strict";

const asks = new Map();
const place = document.getElementById("asks");
const state = document.getElementById("state");

const make = (tag, className, ...children) => {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
};

// What would hide, reorder or move text is shown as its number.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|\udb40[\udc00-\udfff]/gu;

const visible = (text) => {
  const out = document.createDocumentFragment();
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    out.append(text.slice(from, match.index));
    const number = match[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    out.append(make("span", "escape", `<U+${number}>`));
    from = match.index + match[0].length;
  }
  out.append(text.slice(from));
  return out;
};

const request = async (method, path, body) => {
  const answer = await fetch(path, {
    method,
    headers: { "X-Portcullis": "1", "Content-Type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const shape = await answer.json();
  if (!answer.ok) throw new Error(shape.error?.message ?? `status ${answer.status}`);
  return shape;
};

const decide = async (ask, answer, card) => {
  for (const button of card.querySelectorAll("button")) button.disabled = true;
  try {
    await request("POST", `/v1/asks/${ask.id}/decision`, answer);
  } catch (error) {
    card.append(make("p", "fault", visible(error.message)));
    for (const button of card.querySelectorAll("button")) button.disabled = false;
  }
};

const command = (call) => {
  const text = call.input?.command ?? call.input?.cmd;
  return typeof text === "string" ? text : JSON.stringify(call.input, null, 2);
};

const card = (ask) => {
  const text = command(ask.call);
  const lines = text.split("\n").length;
  const box = make("article", ask.verdict.tier);
  box.append(make("div", "tier", ask.verdict.tier));
  box.append(make("p", "meta", visible(`${ask.call.tool} · ${ask.agent} · ${ask.call.cwd ?? "no directory"}${ask.session ? ` · session ${ask.session}` : ""}`)));
  box.append(make("pre", "", visible(text)));
  if (text.length > 400 || lines > 8) box.append(make("p", "meta", `${text.length} characters, ${lines} lines`));
  box.append(make("ul", "", ...ask.verdict.reasons.map((reason) => make("li", "", visible(reason.message)))));
  if (ask.call.description) box.append(make("p", "said", "the agent says: ", visible(ask.call.description)));
  if (ask.deadline_at) box.append(make("p", "meta", `waits until ${new Date(ask.deadline_at).toLocaleTimeString()}`));

  const scope = make("select", "");
  scope.append(new Option("once", "once"));
  if (ask.session) scope.append(new Option("for this session", "session"));
  for (const offer of ask.offers) {
    for (const reach of offer.scopes) scope.append(new Option(`${reach}: ${offer.rule}`, JSON.stringify([reach, offer.rule])));
  }
  const feedback = make("input", "");
  feedback.placeholder = "what the agent is told";
  feedback.setAttribute("aria-label", "feedback");
  const reject = make("button", "reject", "Reject");
  const approve = make("button", "approve", "Approve");
  for (const button of [reject, approve]) button.type = "button";
  const words = () => (feedback.value ? { feedback: feedback.value } : {});
  reject.addEventListener("click", () => decide(ask, { answer: "reject", ...words() }, box));
  approve.addEventListener("click", () => {
    // What could destroy takes a second, deliberate step.
    if (ask.verdict.tier === "destructive" && !approve.dataset.sure) {
      approve.dataset.sure = "1";
      approve.textContent = `Approve: ${ask.verdict.reasons[0]?.message ?? "destructive"}`;
      return;
    }
    const wide = scope.value.startsWith("[") ? JSON.parse(scope.value) : [scope.value];
    const answer = { answer: "approve", scope: wide[0], ...words() };
    if (wide[1]) answer.rules = [wide[1]];
    decide(ask, answer, box);
  });
  const form = make("form", "", feedback, scope, reject, approve);
  form.addEventListener("submit", (event) => event.preventDefault());
  box.append(form);
  return box;
};

const show = () => {
  state.textContent = asks.size === 0 ? "nothing waits" : `${asks.size} waiting`;
  document.title = asks.size === 0 ? "Portcullis" : `(${asks.size}) Portcullis`;
};

const put = (ask) => {
  if (asks.has(ask.id)) return;
  const box = card(ask);
  asks.set(ask.id, box);
  place.append(box);
  show();
};

const take = (id) => {
  asks.get(id)?.remove();
  asks.delete(id);
  show();
};

const listen = () => {
  const feed = new EventSource("/v1/events");
  feed.addEventListener("ask.opened", (event) => put(JSON.parse(event.data).ask));
  feed.addEventListener("ask.settled", (event) => take(JSON.parse(event.data).ask.id));
  feed.addEventListener("resync", () => location.reload());
  feed.onopen = show;
  feed.onerror = () => { state.textContent = "not connected; trying again…"; };
};

const begin = async () => {
  const code = location.hash.slice(1);
  if (code) {
    history.replaceState(null, "", "/");
    try {
      await request("POST", "/v1/login", { code });
    } catch (error) {
      state.textContent = error.message;
      return;
    }
  }
  try {
    await request("GET", "/v1/asks?limit=1");
  } catch {
    state.textContent = "not logged in; open the link that `portcullis serve` prints";
    return;
  }
  listen();
};

begin();
