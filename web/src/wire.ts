// The shapes of the native API, as far as the dashboard reads them; see docs/openapi.json.

export type Outcome = "allow" | "ask" | "deny";
export type Tier = "safe" | "review" | "dangerous" | "destructive";
export type Scope = "once" | "run" | "session" | "always";
export type State = "pending" | "approved" | "rejected" | "expired" | "cancelled";
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

export interface Reason {
  code: string;
  message: string;
  span?: [number, number];
}

export interface EffectOn {
  effect: string;
  target?: string;
}

export interface Finding {
  guard: string;
  tier: Tier;
  outcome: Outcome;
  firm: boolean;
  message: string;
}

export interface Act {
  span: [number, number];
  argv: (string | null)[];
  via: string[];
  effects: EffectOn[];
  tier: Tier;
  read_only: boolean;
  covered?: boolean;
  rung: number;
  rule?: string;
  source?: string;
  finding?: string;
  outcome?: Outcome;
  reason?: Reason;
  findings?: Finding[];
  touches?: { effect: string; written: string; path?: string; real?: string }[];
  directory?: string;
  soft?: string;
}

export interface Verdict {
  outcome: Outcome;
  tier: Tier;
  read_only: boolean;
  firm: boolean;
  world: string;
  reasons: Reason[];
  acts: Act[];
}

export interface Offer {
  rule: string;
  scopes: Scope[];
  also_covers: string[];
}

export interface Decision {
  outcome: Outcome;
  answer?: "approve" | "reject";
  scope: Scope;
  by: string;
  door: string;
  at: string;
  reason: string;
  feedback?: string;
  input?: Json;
  grants?: string[];
}

export interface Ask {
  id: string;
  state: State;
  door: string;
  host?: string;
  agent: string;
  owner: string;
  session?: string;
  run?: string;
  call: { tool: string; input: Json; cwd?: string; description?: string };
  digest: string;
  verdict: Verdict;
  waiting: number;
  opened_at: string;
  deadline_at?: string;
  fallback: string;
  offers: Offer[];
  decision?: Decision;
}

export interface FeedEvent {
  cursor: string;
  type: string;
  at: string;
  ask?: Ask;
  actor?: string;
  subject?: string;
}

export interface Answer {
  answer: "approve" | "reject";
  scope?: Scope;
  rules?: string[];
  valid_s?: number;
  uses?: number;
  feedback?: string;
  input?: Json;
}

export interface Explanation extends Verdict {
  tool: string;
  input: Json;
  cwd: string;
  ladder: { rung: number; about: string; held: number[] }[];
}

export interface Explained {
  explanation: Explanation;
  policy: { version: string; is: "then" | "now" };
  recorded: { outcome: Outcome; tier: Tier };
  notes: string[];
}

export interface PastCall {
  cursor: string;
  at: string;
  digest: string;
  owner?: string;
  /** The ask that was opened for it, and how that ended. */
  ask?: { id: string; state: State; decision?: Decision };
  call: {
    tool: string;
    outcome: Outcome;
    tier: Tier;
    reasons: string[];
    why?: string;
    policy: string;
    door: string;
    agent: string;
    cwd?: string;
    host?: string;
    session?: string;
    run?: string;
    input?: Json;
  };
}

export interface Grant {
  id: string;
  owner: string;
  agent?: string;
  profile?: string;
  rule?: string;
  call?: { tool: string; input: Json; cwd?: string; answer: "approve" | "reject" };
  scope: Scope;
  run?: string;
  session?: string;
  expires_at?: string;
  uses_left?: number;
  used: number;
  used_at?: string;
  made_by: string;
  made_at: string;
  ask?: string;
  revoked_at?: string;
}

export interface Policy {
  version: string;
  mode: string;
  rules: { rule: string; outcome: Outcome; source: string }[];
  workspace: string[];
  destructive: string;
  sensitive_reads: string;
  network_reads: string;
  hopeless: string;
  asks: { deadline_s: number; fallback: string; unused_approval_s: number };
  warnings: string[];
  lint: { code: string; message: string; source: string }[];
  layers: { source: string; path: string; text: string; left_out?: string[] }[];
  tests: { path: string; case: string; wanted: Outcome; got: Outcome; passed: boolean }[];
}

export interface Stats {
  since_at: string;
  days: { day: string; calls: number; asks: number; allowed: number; denied: number; answers: number; median_answer_ms?: number }[];
  outcomes: Record<string, number>;
  tiers: Record<string, number>;
  answers: number;
  median_answer_ms?: number;
  answer_times: { under_s?: number; answers: number }[];
  pending: number;
  is_complete: boolean;
  programs: { program: string; asks: number }[];
  agents: { agent: string; calls: number; asks: number }[];
  rules: { rule: string; also_covers: string; asks: number; ask: string }[];
}

export interface Preview {
  rule: string;
  looked_at: number;
  covered: number;
  examples: { command: string; tier: Tier; agent: string }[];
  /** What each input that was to be tried would come to. */
  tried?: Outcome[];
}

export interface AuditEntry {
  node: string;
  seq: number;
  at: string;
  kind: string;
  actor: string;
  subject: string;
  data: Json;
  prev: string;
  hash: string;
}

export interface AuditState {
  node: string;
  seq: number;
  hash: string;
  checked: number;
  is_whole: boolean;
  is_complete: boolean;
  broken?: { seq: number; what: string };
  checkpoints: number;
  signed_seq?: number;
  signed_at?: string;
  key: string;
}

export interface Key {
  id: string;
  role: string;
  name: string;
  owners?: string[];
  made_at: string;
  expires_at?: string;
  revoked_at?: string;
  key?: string;
}

export interface Run {
  run: string;
  session?: string;
  owner: string;
  cwd?: string;
  status: string;
  started_at: string;
  ended_at?: string;
}

export interface SignedIn {
  id: string;
  name: string;
  role: string;
  browsers: { id: string; name: string; made_at: string; expires_at?: string; is_this: boolean }[];
}
