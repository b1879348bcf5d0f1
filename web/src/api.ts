// Requests to the daemon. Whatever goes wrong comes out as a `Failure` with the daemon's sentence.

import type * as wire from "./wire";

/** Why a request came to nothing. */
export class Failure extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly code: string,
    readonly details?: { decision?: wire.Decision },
  ) {
    super(message);
  }

  /** Whether nobody answered at all. */
  get isOffline(): boolean {
    return this.status === 0;
  }
}

/** Where the page keeps its half of the key. Cookies go to every port of a host; this stays at ours. */
const HALF = "portcullis-page";

/** What shows who this page is, besides the cookie. */
export const shows = (): Record<string, string> => {
  const half = kept();
  return half ? { "X-Portcullis-Page": half } : {};
};

/** What is kept; nothing where the browser keeps nothing. */
const kept = (): string | null => {
  try {
    return localStorage.getItem(HALF);
  } catch {
    return null;
  }
};

/** Keeps the half, or forgets it; whether the browser does so. */
const keep = (half: string | undefined): boolean => {
  try {
    if (half === undefined) localStorage.removeItem(HALF);
    else localStorage.setItem(HALF, half);
    return true;
  } catch {
    return false;
  }
};

/** Sends a request, with the mark that no other site's page can send. */
export const request = async <T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> => {
  const isText = typeof body === "string";
  const init: RequestInit = {
    method,
    headers: { "X-Portcullis": "1", ...shows(), ...(body === undefined ? {} : { "Content-Type": isText ? "text/plain" : "application/json" }) },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  };
  let answer: Response;
  try {
    answer = await fetch(path, init);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Failure("the daemon does not answer", 0, "OFFLINE");
  }
  const shape: unknown = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    const error = (shape as { error?: { code?: string; message?: string; details?: { decision?: wire.Decision } } }).error;
    throw new Failure(error?.message ?? `the daemon answered ${answer.status}`, answer.status, error?.code ?? "", error?.details);
  }
  return shape as T;
};

const query = (values: Record<string, string | number | undefined>): string => {
  const pairs = Object.entries(values).filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
  return text ? `?${text}` : "";
};

/** Signs in; a browser that keeps nothing gets the whole key as its cookie. */
export const login = async (code: string): Promise<void> => {
  const keeps = keep(undefined);
  const { page } = await request<{ page?: string }>("POST", "/v1/login", { code, page: keeps });
  keep(page);
};

export const logout = async (): Promise<void> => {
  await request<object>("DELETE", "/v1/login");
  keep(undefined);
};
export const whoami = () => request<wire.SignedIn>("GET", "/v1/login");
export const newLink = () => request<{ code: string }>("POST", "/v1/login/link", {});

/** The beginning of the inbox: so many of the riskiest and newest. */
export const riskiest = async (limit: number): Promise<wire.Ask[]> => (await request<{ asks: wire.Ask[] }>("GET", `/v1/asks${query({ order: "risk", limit })}`)).asks;

/** All pages of something, one after the other. */
const everything = async <T>(read: (after: string | undefined) => Promise<[T[], string | undefined]>): Promise<T[]> => {
  const all: T[] = [];
  let after: string | undefined;
  do {
    const [page, next] = await read(after);
    all.push(...page);
    after = next;
  } while (after !== undefined);
  return all;
};

/** Every pending ask, in portions that hold no frame up. */
export const pending = (): Promise<wire.Ask[]> => everything(async (after) => {
  const page = await request<{ asks: wire.Ask[]; after?: string }>("GET", `/v1/asks${query({ limit: 250, after })}`);
  return [page.asks, page.after];
});

export const decide = (id: string, answer: wire.Answer) => request<wire.Decision>("POST", `/v1/asks/${id}/decision`, answer);

export const decideMany = (answers: ({ ask: string } & wire.Answer)[]) =>
  request<{ results: { ask: string; decision?: wire.Decision; error?: { message: string } }[] }>("POST", "/v1/asks/decisions", { answers });

/** What the engine says about an ask's call with another input. */
export const checkAsk = (id: string, input: wire.Json, signal?: AbortSignal) =>
  request<{ verdict: wire.Verdict }>("POST", `/v1/asks/${id}/check`, { input }, signal);

export const explainAsk = (id: string, policy: "then" | "now") =>
  request<wire.Explained>("GET", `/v1/asks/${id}/explanation${query({ policy })}`);

export const explainCall = (cursor: string, policy: "then" | "now") =>
  request<wire.Explained>("GET", `/v1/calls/${cursor}/explanation${query({ policy })}`);

/** What the engine says about a call that nobody makes. */
export const check = (call: { tool: string; input: wire.Json; cwd?: string; mode?: string }, signal?: AbortSignal) =>
  request<wire.Explained>("POST", "/v1/check?explain=1", call, signal);

export type HistoryFilter = { q?: string; outcome?: string; tier?: string; agent?: string; tool?: string; since?: string; after?: string };

export const history = (filter: HistoryFilter, signal?: AbortSignal) =>
  request<{ calls: wire.PastCall[]; after?: string }>("GET", `/v1/calls${query({ limit: 50, ...filter })}`, undefined, signal);

/** Every grant that counts, or every one there was. */
export const grants = (isAll: boolean): Promise<wire.Grant[]> => everything(async (after) => {
  const page = await request<{ grants: wire.Grant[]; after?: string }>("GET", `/v1/grants${query({ limit: 1000, all: isAll ? 1 : undefined, after })}`);
  return [page.grants, page.after];
});
export const revokeGrant = (id: string) => request<wire.Grant>("DELETE", `/v1/grants/${id}`);
export const makeGrant = (ask: string, rule: string) => request<wire.Grant>("POST", "/v1/grants", { ask, rule });
export const preview = (ask: string, rule: string, tries: wire.Json[] = []) =>
  request<wire.Preview>("POST", "/v1/grants/preview", { ask, rule, tries: tries.map((input) => ({ input })) });

export const policy = () => request<wire.Policy>("GET", "/v1/policy");
export const checkPolicy = (text: string, signal?: AbortSignal) =>
  request<{ ok: boolean; lint?: { code: string; message: string }[]; error?: { message: string } }>("POST", "/v1/policy/check", text, signal);
export const writePolicy = (text: string) => request<{ version: string }>("PUT", "/v1/policy", text);

export const stats = (days: number) => request<wire.Stats>("GET", `/v1/stats${query({ days })}`);
export const audit = (filter: { kind?: string; before?: string }) =>
  request<{ entries: wire.AuditEntry[]; after?: string }>("GET", `/v1/audit${query({ limit: 50, order: "newest", kind: filter.kind, after: filter.before })}`);
export const auditState = () => request<wire.AuditState>("GET", "/v1/audit/state");

export const keys = () => request<{ keys: wire.Key[] }>("GET", "/v1/keys");
export const makeKey = (key: { role: string; name: string; owners?: string[] }) => request<wire.Key>("POST", "/v1/keys", key);
export const revokeKey = (id: string) => request<wire.Key>("DELETE", `/v1/keys/${id}`);
export const runs = () => request<{ runs: wire.Run[] }>("GET", "/v1/runs");
