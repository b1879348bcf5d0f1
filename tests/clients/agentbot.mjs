// Agentbot over the `ws` package: a call that is queued, pushed, approved and learned of.

import assert from "node:assert/strict";
import { Peer, agent, approver, refused, send } from "./peer.mjs";

assert.equal(await refused("/ws/permissions?userId=default"), 401);
assert.equal(await refused(`/ws/permissions?userId=default&token=${agent}`), 403);

const dashboard = await Peer.open(`/ws/permissions?userId=default&token=${approver}`);
assert.equal((await dashboard.expect("connected")).data.userId, "default");

const command = `node job-${process.pid}.js`;
const call = { toolName: "bash", toolInput: { command }, agentId: "agent-1", userId: "user-1" };
const queued = await send(agent, "POST", "/api/hooks/classify", call);
assert.deepEqual([queued.body.allow, queued.body.tier], [false, "dangerous"]);
const request = await dashboard.expect("permission_request");
assert.deepEqual([request.data.id, request.data.command], [queued.body.requestId, command]);

dashboard.say("nonsense");
assert.equal((await dashboard.expect("error")).data.message, "Invalid JSON");
dashboard.say({ type: "decision", data: { requestId: request.data.id, decision: "approve" } });
const acknowledged = await dashboard.expect("decision_ack");
assert.deepEqual([acknowledged.data.requestId, acknowledged.data.decision], [request.data.id, "approve"]);
const seen = await send(agent, "GET", `/api/permissions/${request.data.id}`);
assert.equal(seen.body.status, "approved");
const retried = await send(agent, "POST", "/api/hooks/classify", call);
assert.equal(retried.body.allow, true, "an approved retry runs");
const safe = await send(agent, "POST", "/api/hooks/classify", {
  ...call,
  toolInput: { command: "git status" },
});
assert.deepEqual([safe.body.allow, safe.body.tier], [true, "safe"]);
dashboard.close();
console.log("agentbot: a call that is queued, pushed, approved and learned of");
