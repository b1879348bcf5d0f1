// Answering: what a form says, where the focus stands, and which keys decide.

import { render } from "preact";
import { act as settle } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Answering, ONCE, approval, leaves, scopes } from "../src/answering";
import { Card } from "../src/card";
import type { Ask } from "../src/wire";
import { act, ask } from "./asks";

let place: HTMLElement;
let sent: { path: string; body: unknown }[];
let clock = 0;
/** What the engine says of calls that are tried with a rule. */
let tried: string[] = [];

beforeEach(() => {
  place = document.body.appendChild(document.createElement("div"));
  sent = [];
  clock = 0;
  tried = ["allow", "ask", "allow", "allow", "deny"];
  vi.spyOn(performance, "now").mockImplementation(() => clock);
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
    sent.push({ path, body: JSON.parse(String(init.body ?? "null")) });
    const decision = { outcome: "allow", answer: "approve", scope: "once", by: "anna", door: "dashboard", at: "", reason: "approver" };
    return new Response(JSON.stringify(path.includes("preview") ? { rule: "", looked_at: 0, covered: 0, examples: [], tried } : decision), { status: 200 });
  });
});

afterEach(() => {
  render(null, place);
  place.remove();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const draw = async (of: Ask, onSettled: (ask: Ask) => void = () => undefined) => {
  await settle(async () => render(<Answering ask={of} onSettled={onSettled} takesKeys />, place));
  clock += 10_000;
};

const press = (key: string) =>
  settle(async () => {
    (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    await new Promise((done) => setTimeout(done, 0));
  });

const button = (text: string): HTMLButtonElement => {
  const found = [...place.querySelectorAll("button")].find((one) => one.textContent?.includes(text));
  if (!found) throw new Error(`no button ${text}`);
  return found;
};

const decisions = () => sent.filter((one) => one.path.endsWith("/decision"));

describe("what a form says", () => {
  test.each([
    [ONCE, { answer: "approve", scope: "once" }],
    [{ scope: "session", rule: undefined, minutes: 10, uses: undefined }, { answer: "approve", scope: "session", valid_s: 600 }],
    [{ scope: "always", rule: "Bash(a:*)", minutes: undefined, uses: 3 }, { answer: "approve", scope: "always", rules: ["Bash(a:*)"], uses: 3 }],
    [{ scope: "once", rule: "Bash(a:*)", minutes: 5, uses: 2 }, { answer: "approve", scope: "once" }],
  ] as const)("%j", (reach, want) => {
    expect(approval(reach, " ")).toEqual(want);
  });

  test("always is never chosen beforehand, and a firm finding stores nothing", () => {
    const firm = ask("rm -rf /");
    firm.verdict.firm = true;
    expect(scopes(firm)[0]).toBe("once");
    expect(leaves(firm, { scope: "always", rule: undefined, minutes: undefined, uses: undefined })).toContain("nothing is stored");
    expect(scopes({ ...firm, session: undefined } as unknown as Ask)).toEqual(["once", "always"]);
  });
});

describe("keys and focus", () => {
  test("the focus stands on Reject, and Enter and Escape send nothing by themselves", async () => {
    await draw(ask("npm publish"));
    expect(document.activeElement?.textContent).toContain("Reject");
    await press("Enter");
    await press("Escape");
    expect(decisions()).toEqual([]);
  });

  test("a approves once, r rejects", async () => {
    const over = vi.fn();
    await draw(ask("npm publish"), over);
    await press("a");
    expect(decisions()[0]?.body).toEqual({ answer: "approve", scope: "once" });
    expect(over).toHaveBeenCalledOnce();
    await draw(ask("npm publish", { id: "019444a0-1234-7abc-8000-abcdef123457" }));
    await press("r");
    expect(decisions()[1]?.body).toEqual({ answer: "reject", scope: "once" });
  });

  test("a key pressed the moment a card came up was meant for another one", async () => {
    await draw(ask("npm publish"));
    clock -= 9_900;
    await press("a");
    expect(decisions()).toEqual([]);
  });

  test("a key held down, or with another one, decides nothing", async () => {
    await draw(ask("npm publish"));
    for (const more of [{ repeat: true }, { ctrlKey: true }, { metaKey: true }, { altKey: true }]) {
      await settle(async () => void document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "a", bubbles: true, ...more })));
    }
    expect(decisions()).toEqual([]);
  });

  test("what could destroy takes a second step that repeats the dangerous part", async () => {
    const command = "echo ok && rm -rf /srv";
    const of = ask(command, {}, "destructive");
    of.verdict.acts = [act(["echo", "ok"], [0, 7], "safe"), act(["rm", "-rf", "/srv"], [11, 22], "destructive")];
    await draw(of);
    await press("a");
    expect(decisions()).toEqual([]);
    expect(place.querySelector(".sure pre")?.textContent).toBe("rm -rf /srv");
    expect(document.activeElement?.textContent).toContain("Go back");
    await press("a");
    await press("Enter");
    expect(decisions()).toEqual([]);
    await press("y");
    expect(decisions()).toEqual([]);
    expect(place.querySelector(".early")?.textContent).toContain("nothing was answered");
    clock += 600;
    await press("y");
    expect(decisions()).toHaveLength(1);
  });

  test("a wider scope shows the exact rule and three examples that the engine allowed with it", async () => {
    await draw(ask("npm publish --tag next"));
    await settle(async () => button("always").click());
    const choice = [...place.querySelectorAll("label")].find((label) => label.textContent?.includes("Bash(npm publish:*)"));
    await settle(async () => choice?.querySelector("input")?.click());
    await settle(async () => new Promise((done) => setTimeout(done, 5)));
    expect(place.querySelector(".rule code")?.textContent).toBe("Bash(npm publish:*)");
    const shown = [...place.querySelectorAll(".examples li")].map((one) => one.textContent);
    expect(shown).toEqual(["npm publish", "npm publish --verbose", "npm publish some/other/thing"]);
    expect(sent.find((one) => one.path.includes("preview"))?.body).toMatchObject({ tries: [{ input: { command: "npm publish" } }, { input: { command: "npm publish --force" } }, {}, {}, {}, {}] });
  });
});

test("the one that lost a race is told who won", async () => {
  const standing = { outcome: "deny", answer: "reject", scope: "once", by: "berta", door: "terminal", at: "", reason: "approver" };
  vi.stubGlobal("fetch", async () => new Response(JSON.stringify({ error: { code: "ASK_ALREADY_SETTLED", message: "settled", details: { decision: standing } } }), { status: 409 }));
  const over = vi.fn();
  await draw(ask("npm publish"), over);
  await press("a");
  expect(over.mock.calls[0]?.[0]).toMatchObject({ state: "rejected", decision: { by: "berta" } });
});

describe("the card", () => {
  const card = async (of: Ask) => {
    await settle(async () => render(<Card ask={of} onSettled={() => undefined} takesKeys={false} />, place));
    return place.textContent ?? "";
  };

  test("the agent's words stand apart and are marked as such", async () => {
    const text = await card(ask("rm -rf x", { call: { tool: "Bash", input: { command: "rm -rf x" }, description: "prints <b>the</b> version" } }));
    expect(text).toContain("The agent’s words");
    expect(place.querySelector(".agent-says b")).toBeNull();
    expect(place.querySelector(".agent-says")?.textContent).toContain("<b>the</b>");
  });

  test("every field of a hostile call is text", async () => {
    const evil = "<img src=x onerror=alert(1)>\u202e\u0007";
    await card(ask(evil, { agent: evil, session: evil, owner: evil, host: evil, call: { tool: evil, input: { command: evil }, cwd: `/${evil}`, description: evil } }));
    expect(place.querySelector("img")).toBeNull();
    expect(place.textContent).not.toMatch(/[\u202e\u0007]/u);
    expect(place.querySelector("a[href]")).toBeNull();
  });

  test("nothing is hidden by length: size, lines, the dangerous part first, the whole one action away", async () => {
    const command = `${Array.from({ length: 500 }, (_, index) => `echo ${index}`).join("\n")}\nrm -rf /srv`;
    const of = ask(command, {}, "destructive");
    const bytes = new TextEncoder().encode(command).length;
    of.verdict.acts = [act(["echo"], [0, 6], "safe"), act(["rm", "-rf", "/srv"], [bytes - 11, bytes], "destructive")];
    const text = await card(of);
    expect(text).toContain("501 lines");
    expect(place.querySelector(".first-act")?.textContent).toContain("rm -rf /srv");
    expect(place.querySelector(".command")?.textContent).not.toContain("echo 250");
    await settle(async () => button("show all of it").click());
    expect(place.querySelector(".command")?.textContent).toContain("echo 250");
  });

  test.each([
    [{ command: "ls", run_in_background: true, env: { LD_PRELOAD: "x.so" } }, ["run_in_background", "LD_PRELOAD"]],
    [{ path: "/etc/hosts", mode: "delete" }, ["/etc/hosts", "delete"]],
    [{ kind: "fs.write", resource: "src/a.ts" }, ["fs.write", "src/a.ts"]],
    [{ file_path: "/a", old_string: "x", new_string: "y", replace_all: true }, ["replace_all"]],
    [{ file_path: "/a", edits: [{ old_string: "x", new_string: "y", replace_all: true }] }, ["replace_all", "+y"]],
    [["bare", "list"], ["bare"]],
  ])("nothing of an input goes unseen: %j", async (input, want) => {
    const text = await card(ask("", { call: { tool: "Tool", input } }));
    for (const word of want) expect(text).toContain(word);
  });

  test("an edit of a file is shown as a difference", async () => {
    await card(ask("", { call: { tool: "Edit", input: { file_path: "/p/a.ts", old_string: "one\ntwo", new_string: "one\nthree" } } }));
    expect([...place.querySelectorAll(".diff .row")].map((row) => row.textContent)).toEqual([" one", "-two", "+three"]);
  });
});

const HIDES = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}]/u;

test("whatever a call says, no text and no label of its card has it raw", async () => {
  const evil = "x\u202e\u2066\u200b\u00ad\ufeff\u{e0041}\u0007\u001b[2J\u009b31m\r\u2028";
  const inputs = [
    { command: `ls ${evil}`, note: evil },
    { file_path: `/tmp/${evil}`, old_string: evil, new_string: `    ${evil}`, more: evil },
  ];
  for (const input of inputs) {
    const of = ask("ls", { agent: evil, host: evil, owner: evil, session: evil, run: evil, offers: [{ rule: `Bash(${evil}:*)`, scopes: ["session"], also_covers: [evil] }] });
    of.call = { tool: evil, input, cwd: `/tmp/${evil}`, description: evil };
    of.verdict.reasons = [{ code: "mode.default", message: evil }];
    of.verdict.acts = [act([evil, evil], [0, 2], "review", { via: [evil, evil], rule: evil, effects: [{ effect: "write", target: evil }], touches: [{ effect: "write", written: evil, real: evil }], findings: [{ guard: "g", tier: "review", outcome: "ask", firm: true, message: evil }] })];
    await settle(async () => render(<Card ask={of} onSettled={() => undefined} takesKeys />, place));
    clock += 10_000;
    await settle(async () => button("this session").click());
    await settle(async () => place.querySelectorAll<HTMLInputElement>(".choices input")[1]?.click());
    const raw: string[] = [];
    for (const each of place.querySelectorAll("*")) {
      for (const { name, value } of each.attributes) if (HIDES.test(value)) raw.push(`${each.tagName} ${name}`);
      for (const node of each.childNodes) if (node.nodeType === 3 && HIDES.test(node.textContent ?? "")) raw.push(`${each.tagName} ${each.className}`);
    }
    expect(raw).toEqual([]);
    expect(place.textContent).toContain("\\u{202e}");
    await settle(async () => render(null, place));
  }
});
