// Asks for the tests of components.

import type { Act, Ask, Tier } from "../src/wire";

export const act = (argv: string[], span: [number, number], tier: Tier = "review", more: Partial<Act> = {}): Act => ({
  span,
  argv,
  via: [],
  effects: [{ effect: "write", target: "out" }],
  tier,
  read_only: tier === "safe",
  rung: 5,
  ...more,
});

export const ask = (command: string, more: Partial<Ask> = {}, tier: Tier = "review"): Ask => ({
  id: "019444a0-1234-7abc-8000-abcdef123456",
  state: "pending",
  door: "hook",
  host: "claude",
  agent: "reviewer",
  owner: "local",
  session: "s-1",
  call: { tool: "Bash", input: { command }, cwd: "/home/dev/proj" },
  digest: "sha256:00",
  verdict: {
    outcome: "ask",
    tier,
    read_only: false,
    firm: false,
    world: "lexical",
    reasons: [{ code: "mode.default", message: `no rule allows \`${command}\``, span: [0, new TextEncoder().encode(command).length] }],
    acts: [act(command.split(" "), [0, new TextEncoder().encode(command).length], tier)],
  },
  waiting: 1,
  opened_at: "2026-11-15T20:15:00.000Z",
  deadline_at: "2026-11-15T20:45:00.000Z",
  fallback: "deny",
  offers: [{ rule: "Bash(npm publish:*)", scopes: ["session", "always"], also_covers: ["every command that begins with `npm publish`"] }],
  ...more,
});
