// Words for people: times, spans, names, and what a call is in one line.

import { type Piece, cut, inLine, line, shown } from "./show";
import type { Ask, Decision, Json, Tier } from "./wire";

export const TIERS: Tier[] = ["safe", "review", "dangerous", "destructive"];

export const rank = (tier: Tier): number => TIERS.indexOf(tier);

/** A span of time, short: `4 s`, `12 min`, `3 h`. */
export const span = (ms: number): string => {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (ms > 0 && ms < 9950 && ms % 1000 !== 0) return `${(ms / 1000).toFixed(1)} s`;
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
};

/** What is left, to the second: `04:09`, `1:04:09`. */
export const countdown = (ms: number): string => {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (number: number) => String(number).padStart(2, "0");
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${two(m)}:${two(s)}`;
};

export const ago = (at: string, now: number): string => {
  const ms = now - Date.parse(at);
  return ms < 5000 ? "just now" : `${span(Math.round(ms / 1000) * 1000)} ago`;
};

// Made once: finding out how a place writes its dates takes longer than writing a hundred.
const PLACE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** A moment of the record: date and time of this place. */
export const moment = (at: string): string => {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? at : PLACE.format(date);
};

export const size = (bytes: number): string => {
  if (bytes < 1024) return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KiB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
};

export const count = (number: number, one: string, many = `${one}s`): string => `${number.toLocaleString()} ${number === 1 ? one : many}`;

const field = (input: Json | undefined, ...names: string[]): string | undefined => {
  if (input === null || typeof input !== "object" || Array.isArray(input)) return undefined;
  for (const name of names) {
    const value = input[name];
    if (typeof value === "string") return value;
  }
  return undefined;
};

/** The field that holds the command of a call, if its input has one. */
export const commandField = (input: Json): string | undefined =>
  ["command", "cmd", "script"].find((name) => field(input, name) !== undefined);

/** The fields that say what a call would run or touch. */
const SAYING = ["command", "cmd", "script", "resource", "file_path", "path", "url", "query"];

/** What a call would run or touch, as text. */
export const commandOf = (call: { tool: string; input?: Json | undefined }): string => {
  if (call.input === undefined) return "";
  return field(call.input, ...SAYING) ?? JSON.stringify(call.input, null, 2);
};

/** The input with another text for what would run or be touched; none where it does not say so in one field. */
export const saying = (input: Json, text: string): Json | undefined => {
  const name = SAYING.find((one) => field(input, one) !== undefined);
  return name === undefined ? undefined : { ...(input as { [name: string]: Json }), [name]: text };
};

/** All that a call says: its command, its one field, or its whole input. */
export const textOf = (call: { tool: string; input?: Json | undefined }): string => {
  const { input } = call;
  if (input === undefined) return "";
  if (isCommand(call)) return commandOf(call);
  if (input !== null && typeof input === "object" && !Array.isArray(input)) {
    const [only, ...more] = Object.values(input);
    if (more.length === 0 && typeof only === "string") return only;
  }
  return JSON.stringify(input, null, 2);
};

/** What an input has besides these fields, so that nothing of it goes unseen; none where nothing is left. */
export const besides = (input: Json, seen: string[]): Json | undefined => {
  if (input === null || typeof input !== "object" || Array.isArray(input)) return undefined;
  const left = Object.entries(input).flatMap(([name, value]): [string, Json][] => {
    if (!seen.includes(name)) return [[name, value]];
    // Of a list of edits, what each has besides.
    if (name !== "edits" || !Array.isArray(value)) return [];
    const more = value.map((one) => besides(one, seen) ?? {});
    return more.some((one) => Object.keys(one as object).length > 0) ? [[name, more]] : [];
  });
  return left.length === 0 ? undefined : Object.fromEntries(left);
};

/** Whether the text of a call is a command, so that spans of acts are spans of it. */
export const isCommand = (call: { input?: Json | undefined }): boolean => call.input !== undefined && commandField(call.input) !== undefined;

/** A call in one line, as a list has it; files of its own directory without that. */
export const title = (call: { tool: string; input?: Json | undefined; cwd?: string | undefined }): string => {
  const text = commandOf(call).slice(0, 400);
  if (isCommand(call)) return line(text);
  const isInside = call.cwd !== undefined && text.startsWith(`${call.cwd}/`);
  return `${line(call.tool)} ${line(isInside && call.cwd ? text.slice(call.cwd.length + 1) : text)}`;
};

/** So much of a command fits into a row. */
const ROOM = 32;

/** A worst part shorter than this says too little alone. */
const SHORT = 16;

/** An ask in one line: of a command that has no room there, what is worst comes first. */
export const headline = (ask: Ask): string => {
  const known = headlines.get(ask);
  if (known !== undefined) return known;
  const made = makeHeadline(ask);
  headlines.set(ask, made);
  return made;
};

const headlines = new WeakMap<Ask, string>();

const makeHeadline = (ask: Ask): string => {
  const text = commandOf(ask.call);
  const worst = [...ask.verdict.acts].sort((a, b) => rank(b.tier) - rank(a.tier))[0];
  if (!worst || worst.argv.length === 0 || rank(worst.tier) < 2 || text.length <= ROOM || !isCommand(ask.call) || worst.span[0] === 0) return title(ask.call);
  const [from] = worst.span;
  const pieces = cut(shown(text), [from]);
  const part = inLine(pieces.filter((piece) => piece.from >= from)).slice(0, 300);
  // What room is left goes to the words before it: `…example.com/install.sh | sh` says more than `sh`.
  const room = part.length < SHORT ? ROOM - part.length : 0;
  return `…${tail(pieces.filter((piece) => piece.to <= from), room)}${part}`;
};

/** The end of a text that has this much room, from the beginning of a word or of a part of one. */
const tail = (pieces: Piece[], room: number): string => {
  // What is spelled out stays whole.
  const signs = pieces.flatMap((piece) => (piece.kind === "plain" || piece.kind === "foreign" ? [...piece.text] : [inLine([piece])]));
  let at = signs.length;
  for (let left = room; at > 0 && left >= (signs[at - 1]?.length ?? 0); at -= 1) left -= signs[at - 1]?.length ?? 0;
  const begins = (index: number): boolean => index === 0 || /^[\s/=:,;]/u.test(signs[index - 1] ?? "");
  while (at < signs.length && !(begins(at) && /^[^\s/=:,;]/u.test(signs[at] ?? ""))) at += 1;
  return signs.slice(at).join("");
};

/** How an ask ended, in one sentence. */
export const ending = (ask: Pick<Ask, "state">, decision: Decision): string => {
  const how: Record<string, string> = { approved: "approved", rejected: "rejected", expired: "expired", cancelled: "withdrawn" };
  const state = how[ask.state] ?? ask.state;
  if (decision.reason === "approver") {
    const scope = decision.scope === "once" ? "" : ` (${SCOPES[decision.scope] ?? decision.scope})`;
    const changed = decision.input === undefined ? "" : ", changed";
    return `${state}${changed}${scope} by ${line(decision.by)} · ${line(decision.door)}`;
  }
  return `${state}: ${REASONS[decision.reason] ?? line(decision.reason)}`;
};

export const SCOPES: Record<string, string> = { once: "once", run: "this run", session: "this session", always: "always" };

export const REASONS: Record<string, string> = {
  fallback: "nobody answered in time",
  withdrawn: "the agent took it back",
  run_ended: "the run has ended",
  agent_gone: "the agent is gone",
  grant: "a grant answered it",
};

/** What an act runs, in a word or two: `npm install`. */
const runs = (act: { argv: (string | null)[] }): string => {
  const program = (act.argv[0] ?? "?").split("/").pop() ?? "";
  return act.argv[1] && /^[a-z][a-z-]*$/u.test(act.argv[1]) ? `${program} ${act.argv[1]}` : program;
};

/** The sort of call, for answering many at once: the same tool and programs, as bad as each other. */
export const sort = (ask: Ask): string => {
  const all = ask.verdict.acts;
  const doing = all.filter((act) => !act.read_only);
  const programs = new Set((doing.length > 0 ? doing : all).map(runs));
  return [ask.call.tool, ask.verdict.tier, ...[...programs].sort()].join("\n");
};

/** Other commands or paths that a rule speaks about, made from the rule itself; whether it would allow them is to be tried. */
export const examples = (rule: string, own: string): string[] => {
  const open = rule.indexOf("(");
  const content = open < 0 ? "" : rule.slice(open + 1, -1);
  const made = content.endsWith(":*")
    ? ["", " --force", " --verbose", " some/other/thing", " -x some/other/thing", " anything else"].map((rest) => content.slice(0, -2) + rest)
    : content.includes("*")
      ? ["notes.txt", "deep/below/config.json", "any.sh", "README.md"].map((name) => content.replace(/\*\*\/\*|\*\*|\*/u, name))
      : content === ""
        ? []
        : [content];
  return made.filter((example) => example !== own);
};
