// Multica over the real `socket.io-client`: registration, pairing, requests and answers, by polling,
// with the upgrade, and by WebSocket alone.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { io } from "socket.io-client";
import { agent as agentKey, approver, send, url } from "./peer.mjs";

// Something that comes, or an error that says what did not.
function within(promise, what, ms = 20000) {
  const late = new Promise((_, no) => setTimeout(() => no(new Error(`${what} did not come`)), ms).unref());
  return Promise.race([promise, late]);
}

// A device that speaks as the SDK does.
class Device {
  constructor(hub, kind, transports) {
    Object.assign(this, { hub, kind, id: randomUUID(), waiting: new Map(), heard: [], listeners: [] });
    this.socket = io(url, { path: "/ws", query: { deviceId: this.id, deviceType: kind }, transports, reconnection: false, forceNew: true });
    this.registered = new Promise((yes) => this.socket.once("registered", yes));
    this.socket.on("receive", (message) => this.hear(message));
    this.socket.on("send_error", (error) => this.hear({ action: "send_error", payload: error }));
  }

  hear(message) {
    assert.ok(message.action === "send_error" || (message.from === this.hub && message.to === this.id && message.uid === null));
    const answer = message.action === "response" && this.waiting.get(message.payload.requestId);
    if (answer) return answer(message.payload);
    this.heard.push(message);
    this.listeners.splice(0).forEach((look) => look());
  }

  // The payload of the next message of an action.
  async next(action) {
    for (;;) {
      const at = this.heard.findIndex((message) => message.action === action);
      if (at >= 0) return this.heard.splice(at, 1)[0].payload;
      await within(new Promise((yes) => this.listeners.push(yes)), `\`${action}\``);
    }
  }

  send(action, payload, to = this.hub) {
    this.socket.emit("send", { id: randomUUID(), uid: null, from: this.id, to, action, payload });
  }

  call(method, params) {
    const requestId = randomUUID();
    const answer = new Promise((yes) => this.waiting.set(requestId, yes));
    this.send("request", { requestId, method, params });
    return within(answer, `the answer to ${method}`);
  }
}

async function play(transports) {
  const { body: pairing } = await send(approver, "POST", "/v1/devices", {});
  const client = new Device(pairing.hub_id, "client", transports);
  assert.deepEqual(await within(client.registered, "`registered`"), { success: true, deviceId: client.id });
  const early = await client.call("listExecApprovals");
  assert.deepEqual(early.error, { code: "UNAUTHORIZED", message: "Device not verified" });
  const verified = await client.call("verify", { token: pairing.token, meta: { platform: "node", userAgent: "test", language: "en" } });
  assert.equal(verified.ok, true, JSON.stringify(verified));
  assert.equal(verified.payload.hubId, pairing.hub_id);
  assert.equal(typeof verified.payload.agentId, "string");
  if (transports.includes("websocket")) {
    const { engine } = client.socket.io;
    if (engine.transport.name !== "websocket") await within(new Promise((yes) => engine.once("upgrade", yes)), "the upgrade");
    assert.equal(engine.transport.name, "websocket");
  } else {
    assert.equal(client.socket.io.engine.transport.name, "polling");
  }

  const agent = new Device(pairing.hub_id, "agent", transports);
  await within(agent.registered, "`registered`");
  assert.equal((await agent.call("verify", { token: agentKey })).ok, true);
  for (const [decision, approved] of [["allow-once", true], ["deny", false]]) {
    const result = agent.call("requestExecApproval", { command: `make ${decision}`, cwd: "/tmp", agentId: "agent-1" });
    const request = await client.next("exec-approval-request");
    assert.deepEqual([request.command, request.agentId, request.cwd], [`make ${decision}`, "agent-1", "/tmp"]);
    assert.deepEqual(request.allowAlwaysPatterns, ["make **"]);
    const refused = await agent.call("resolveExecApproval", { approvalId: request.approvalId, decision });
    assert.deepEqual(refused.error, { code: "UNAUTHORIZED", message: "Not an approver" });
    const resolved = await client.call("resolveExecApproval", { approvalId: request.approvalId, decision });
    assert.deepEqual(resolved.payload, { ok: true });
    const { payload } = await result;
    assert.deepEqual([payload.approved, payload.decision, payload.approvalId], [approved, decision, request.approvalId]);
    assert.match(payload.reason, /^approver: /);
  }
  const pong = await within(client.socket.emitWithAck("ping"), "`pong`");
  assert.deepEqual(pong, { event: "pong", data: "Hello from Gateway!" });
  const listed = await within(client.socket.emitWithAck("list-devices"), "the devices");
  assert.deepEqual(listed.devices, [{ deviceId: pairing.hub_id, deviceType: "hub" }, { deviceId: client.id, deviceType: "client" }]);
  client.send("hello", { greeting: "hi" }, "nobody");
  assert.equal((await client.next("send_error")).code, "DEVICE_NOT_FOUND");

  client.socket.disconnect();
  agent.socket.disconnect();
}

await play(["polling", "websocket"]);
await play(["polling"]);
await play(["websocket"]);
console.log("multica: polling, upgrade and WebSocket went as the wire says");
process.exit(0);
