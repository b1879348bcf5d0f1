// The stage of the browser's conversations: a real daemon on a home of its own, and a real browser.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

const PROGRAMS = [process.env.PORTCULLIS_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export const AGENT = "agent-of-the-browser";

/** A daemon that can be stopped and started again on the same address and the same store. */
export class Daemon {
  constructor(binary, policy = "") {
    this.binary = binary;
    this.home = mkdtempSync(join(tmpdir(), "portcullis-browser-"));
    this.project = join(this.home, "project");
    mkdirSync(this.project);
    const config = join(this.home, ".config/portcullis");
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, "config.toml"), "[limits]\npending_asks_per_agent = 5000\nasks_per_minute_per_agent = 100000\n");
    if (policy) writeFileSync(join(config, "policy.toml"), policy);
    this.port = 0;
  }

  async start() {
    const environment = { HOME: this.home, INTERNAL_API_KEY: AGENT, PATH: process.env.PATH };
    this.child = spawn(this.binary, ["serve", "--listen", `127.0.0.1:${this.port}`], { env: environment, stdio: ["ignore", "pipe", "pipe"] });
    this.child.stderr.resume();
    this.ended = new Promise((done) => this.child.once("exit", done));
    const lines = createInterface({ input: this.child.stdout });
    await new Promise((done, fail) => {
      this.child.once("exit", (code) => fail(new Error(`the daemon ended with ${code}`)));
      lines.on("line", (line) => {
        const link = /https?:\/\/\S+#\S+/u.exec(line);
        if (line.startsWith("listening on ")) this.url = line.slice("listening on ".length).trim();
        if (link) this.link = link[0];
        if (this.url && link) done();
      });
    });
    this.port = Number(new URL(this.url).port);
    this.approver = readFileSync(join(this.home, ".local/share/portcullis/cli.key"), "utf8").trim();
  }

  async stop() {
    this.child.kill("SIGTERM");
    await this.ended;
  }

  async end() {
    await this.stop();
    rmSync(this.home, { recursive: true, force: true });
  }

  async request(key, method, path, body) {
    const answer = await fetch(new URL(path, this.url), {
      method,
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: await answer.json() };
  }

  /** Submits a call as an agent; gives the answer at once. */
  async call(command, more = {}) {
    const call = { tool: "Bash", input: { command }, cwd: this.project, session: "s-1", agent: "reviewer", host: "claude", ...more };
    const { status, body } = await this.request(AGENT, "POST", "/v1/calls", call);
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
    return body;
  }

  ask(id) {
    return this.request(this.approver, "GET", `/v1/asks/${id}`).then(({ body }) => body);
  }

  decide(id, answer) {
    return this.request(this.approver, "POST", `/v1/asks/${id}/decision`, answer);
  }
}

export const launch = () => {
  const executablePath = PROGRAMS.find((program) => program && existsSync(program));
  if (!executablePath) throw new Error("no Chromium; name one with PORTCULLIS_CHROMIUM");
  return chromium.launch({ executablePath, headless: true, args: FLAGS });
};

/** A browser of its own: no cookies of others. Requests that leave the daemon are noted. */
export const browserOf = async (browser, daemon, options = {}) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  const strangers = [];
  context.on("request", (request) => {
    if (!request.url().startsWith(daemon.url)) strangers.push(request.url());
  });
  // While the dashboard is being written its files may come from the disk.
  const dist = process.env.PORTCULLIS_WEB_DIST;
  if (dist) {
    for (const [path, name] of [["/", "index.html"], ["/app.js", "app.js"], ["/app.css", "app.css"]]) {
      await context.route((url) => url.pathname === path, async (route) => {
        const answer = await route.fetch();
        await route.fulfill({ response: answer, body: readFileSync(join(dist, name)), headers: { ...answer.headers(), "content-encoding": "identity" } });
      });
    }
  }
  const page = await context.newPage();
  const faults = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  return { context, page, strangers, faults };
};

/** Signs a browser in, by the link of the daemon or by one that another browser makes. */
export const signIn = async (stage, daemon) => {
  await stage.page.goto(daemon.link);
  await stage.page.waitForSelector(".link.live");
};

/** A request of the page itself, with everything it shows. */
export const asPage = (page, method, path, body) =>
  page.evaluate(
    async ([method, path, body]) => {
      const headers = { "X-Portcullis": "1", "X-Portcullis-Page": localStorage.getItem("portcullis-page") };
      return (await fetch(path, { method, headers, ...(body === undefined ? {} : { body }) })).json();
    },
    [method, path, body],
  );

/** A link for one more browser, made by one that is signed in. */
export const anotherLink = async (page, daemon) => {
  const { code } = await asPage(page, "POST", "/v1/login/link");
  return `${daemon.url}/#${code}`;
};
