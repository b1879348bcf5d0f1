// The Multica exchange, played by the real Socket.IO client against a daemon of its own.
//
// `node multica.mjs PORTCULLIS`, where PORTCULLIS is the binary. It ends with 0 if everything went
// as the wire says, and else names what did not.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { io } from "socket.io-client";

const binary = process.argv[2] ?? process.env.PORTCULLIS ?? "target/debug/portcullis";
const home = mkdtempSync(join(tmpdir(), "multica-"));
const env = { HOME: home, PATH: process.env.PATH, NO_COLOR: "1" };
const run = (...words) => execFileSync(binary, words, { env, encoding: "utf8" });

/** The daemon, and where it listens. */
async function serve() {
  const daemon = spawn(binary, ["serve", "--listen", "127.0.0.1:0"], { env, stdio: ["ignore", "pipe", "ignore"] });
  for await (const line of createInterface({ input: daemon.stdout })) {
    const said = line.match(/^listening on (http:\S+)/);
    if (said) return { daemon, url: said[1].replace(/\/$/, "") };
  }
  throw new Error("the daemon did not come up");
}

/** Something that comes, or an error that says what did not. */
function within(promise, what, ms = 20000) {
  const late = new Promise((_, no) => setTimeout(() => no(new Error(`${what} did not come`)), ms).unref());
  return Promise.race([promise, late]);
}

/** A device that speaks as the SDK does. */
class Device {
  constructor(url, hub, kind, transports) {
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

  /** The payload of the next message of an action. */
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

async function play(url, agentKey, transports) {
  const pairing = JSON.parse(run("devices", "pair", "--json"));
  const client = new Device(url, pairing.hub_id, "client", transports);
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

  const agent = new Device(url, pairing.hub_id, "agent", transports);
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

const { daemon, url } = await serve();
try {
  const agentKey = run("keys", "create", "--role", "agent", "--name", "coder").trim();
  await play(url, agentKey, ["polling", "websocket"]);
  await play(url, agentKey, ["polling"]);
  await play(url, agentKey, ["websocket"]);
  console.log("multica: polling, upgrade and WebSocket went as the wire says");
} finally {
  const gone = new Promise((yes) => daemon.once("exit", yes));
  daemon.kill("SIGTERM");
  await within(gone, "the end of the daemon");
  rmSync(home, { recursive: true, force: true });
}
