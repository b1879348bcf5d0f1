// Comma over the `ws` package: a run, a question, an answer that is remembered, and the end.

import assert from "node:assert/strict";
import { Peer, agent, approver, refused, send } from "./peer.mjs";

const run = `node-${process.pid}`;
assert.equal(await refused("/ws"), 401);
assert.equal(await refused(`/ws?token=${agent}`), 403);
assert.equal(await refused(`/ws?token=${approver}`, { origin: "https://evil.example" }), 403);

assert.equal((await send(agent, "POST", "/v1/runs", { run, cwd: "/srv/p" })).status, 200);
const client = await Peer.open(`/ws?token=${approver}`);
const tui = await Peer.open(`/ws?profile=comma-tui&token=${approver}`);
for (const peer of [client, tui]) {
  peer.say({ type: "prepare_run", runId: run, requestId: "attach" });
  const prepared = await peer.expect("run_prepared");
  assert.equal(prepared.requestId, "attach");
}

const access = { kind: "command.execute", resource: "npm publish" };
const call = { tool: "run_command", access, run, agent: "writer", wait_ms: 20_000 };
const answered = send(agent, "POST", "/v1/calls", call);
const asked = await client.expect("request_permission");
assert.match(asked.requestId, /^perm-[0-9a-f-]{36}$/);
assert.deepEqual(
  [asked.agentName, asked.toolName, asked.operation, asked.resource, asked.reason],
  ["writer", "run_command", "command.execute", "npm publish", "policy-ask"],
);
assert.equal((await tui.expect("request_permission")).operation, "fs.exec");

// A binary frame is as good as a text.
const decision = {
  type: "permission_decision",
  runId: run,
  permissionRequestId: asked.requestId,
  decision: "allow-session",
};
client.socket.send(Buffer.from(JSON.stringify(decision)));
const updated = await client.expect("policy_updated");
assert.equal(updated.policies.at(-1).name, "session-allow-exec-npm-publish");
assert.equal((await client.expect("permission_resolved")).decision, "allow-session");
assert.equal((await answered).body.outcome, "allow");
const again = await send(agent, "POST", "/v1/calls", { ...call, wait_ms: 0 });
assert.equal(again.body.outcome, "allow");

await tui.expect("policy_updated");
tui.say({ ...decision, decision: "deny", requestId: "late" });
const late = await tui.expect("error");
assert.deepEqual([late.code, late.requestId], ["NO_PENDING_PERMISSION", "late"]);

client.say({ type: "stop_run", runId: run });
assert.equal((await client.expect("strategy_error")).error.code, "CANCELLED");
assert.equal((await tui.expect("strategy_error")).error.code, "CANCELLED");
client.close();
tui.close();
console.log("comma: a run, a question, an answer that is remembered, and the end");
