// What every script here needs: where the daemon is, requests, and a WebSocket that is awaited.

import assert from "node:assert/strict";
import WebSocket from "ws";

// `node SCRIPT http://HOST:PORT AGENT_KEY APPROVER_KEY`
const [url, agent, approver] = process.argv.slice(2);
if (!approver) {
  console.error("use: node SCRIPT http://HOST:PORT AGENT_KEY APPROVER_KEY");
  process.exit(2);
}

export { url, agent, approver };

// How long anything may take.
const PATIENCE_MS = 20_000;

// Sends a request with a key; gives the status and the body.
export async function send(key, method, path, body) {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  return { status: response.status, body: await response.json() };
}

// A WebSocket whose frames are taken one by one.
export class Peer {
  #frames = [];
  #waiting = [];

  static async open(path, options) {
    const peer = new Peer();
    peer.socket = new WebSocket(url.replace(/^http/, "ws") + path, options);
    peer.socket.on("message", (data) => {
      const frame = JSON.parse(data.toString());
      const waiter = peer.#waiting.shift();
      if (waiter) waiter(frame);
      else peer.#frames.push(frame);
    });
    await new Promise((resolve, reject) => {
      peer.socket.once("open", resolve);
      peer.socket.once("error", reject);
    });
    return peer;
  }

  say(message) {
    this.socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  // The next frame, which must be of this type.
  async expect(type) {
    const frame = this.#frames.shift() ?? (await this.#next(type));
    assert.equal(frame.type, type, JSON.stringify(frame));
    return frame;
  }

  #next(type) {
    return new Promise((resolve, reject) => {
      const late = () => reject(new Error(`no ${type} came`));
      const timer = setTimeout(late, PATIENCE_MS);
      this.#waiting.push((frame) => {
        clearTimeout(timer);
        resolve(frame);
      });
    });
  }

  close() {
    this.socket.close();
  }
}

// The status that refuses a WebSocket.
export function refused(path, options) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace(/^http/, "ws") + path, options);
    socket.once("open", () => reject(new Error(`${path} was let in`)));
    socket.once("unexpected-response", (_, response) => resolve(response.statusCode));
    socket.on("error", () => {});
  });
}
