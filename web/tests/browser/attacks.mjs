// What others would do to the dashboard: pages of other origins, other ports of this machine, and
// every field that an agent fills in. `mishaps.mjs` has what a person does by accident.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { waiting } from "./answers.mjs";
import { PAGES, calm } from "./looks.mjs";
import { AGENT, anotherLink } from "./stage.mjs";

/** A page of somebody else on this machine; remembers what browsers showed it. */
const stranger = async (body = "<!doctype html><title>dev server</title>") => {
  const seen = [];
  const server = createServer((request, answer) => {
    seen.push(request.headers);
    answer.setHeader("Content-Type", "text/html");
    answer.end(body);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { seen, url: `http://127.0.0.1:${server.address().port}`, close: () => new Promise((done) => (server.close(done), server.closeAllConnections())) };
};

/** Signs that must never reach the screen as they are. */
const RAW = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/u;

/** What of a page could be seen or heard and is raw: text, names, titles, hints. */
const rawOf = (page) =>
  page.evaluate((source) => {
    const raw = new RegExp(source, "u");
    const found = [];
    const walk = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let node = walk.currentNode; node; node = walk.nextNode()) {
      if (node.nodeType === Node.TEXT_NODE) {
        if (raw.test(node.data)) found.push(`text in ${node.parentElement.className || node.parentElement.tagName}: ${JSON.stringify(node.data.slice(0, 60))}`);
      } else {
        for (const { name, value } of node.attributes) if (raw.test(value)) found.push(`${name} of ${node.tagName}: ${JSON.stringify(value.slice(0, 60))}`);
      }
    }
    return found;
  }, RAW.source);

/** Words that would be more than words somewhere: markup, addresses, templates, what moves a line. */
const WORDS = [
  "<script>owned()</script>",
  "<img src=x onerror=owned()>",
  "\"><svg onload=owned()>",
  "' onmouseover=owned() x='",
  "javascript:owned()",
  "</pre></code><iframe srcdoc='<script>parent.owned()</script>'></iframe>",
  "{{constructor.constructor('owned()')()}}",
  "${owned()}",
  "safe\u202egnp.exe\u2066\u200b\u00ad\ufeff\u{e0041}",
  "__proto__",
  "A".repeat(190),
];

export const attacks = {
  "another port of this machine learns a cookie that opens nothing": async ({ daemon, page, stage }) => {
    const { ask } = await daemon.call("npm publish");
    await waiting(page, 1);
    const other = await stranger();
    const tab = await stage.context.newPage();
    await tab.goto(other.url);
    await tab.close();
    const cookie = other.seen[0].cookie;
    assert.match(cookie, /portcullis=pcl_admin_/u, "browsers show cookies to every port of a host");
    const secret = /portcullis=([^;]+)/u.exec(cookie)[1];
    const marked = { "X-Portcullis": "1", Origin: daemon.url };
    for (const headers of [{ Cookie: cookie, ...marked }, { Cookie: cookie, ...marked, "X-Portcullis-Page": "" }, { Cookie: cookie, ...marked, "X-Portcullis-Page": secret }, { Authorization: `Bearer ${secret}` }]) {
      for (const [method, path] of [["GET", "/v1/asks"], ["GET", "/v1/events"], ["POST", `/v1/asks/${ask}/decision`], ["POST", "/v1/keys"], ["POST", "/v1/login/link"]]) {
        const answer = await fetch(new URL(path, daemon.url), { method, headers, ...(method === "POST" ? { body: '{"answer":"approve"}' } : {}) });
        await answer.body.cancel();
        assert.equal(answer.status, 401, `${method} ${path} with ${Object.keys(headers)}`);
      }
    }
    assert.equal((await daemon.ask(ask)).state, "pending");
    // The page itself goes on, also after it is loaded again.
    await page.reload();
    await page.waitForSelector(".link.live");
    await waiting(page, 1);
    await other.close();
    stage.strangers.length = 0;
  },

  "a page of another origin reads nothing, frames nothing and answers nothing": async ({ daemon, page, stage }) => {
    const { ask } = await daemon.call("npm publish");
    await waiting(page, 1);
    const other = await stranger();
    const tab = await stage.context.newPage();
    await tab.goto(other.url);
    const tried = await tab.evaluate(
      async ([url, id]) => {
        const path = `${url}/v1/asks/${id}/decision`;
        const body = '{"answer":"approve"}';
        const outcome = async (promise) => promise.then((answer) => answer.type, () => "refused");
        const all = {
          plain: await outcome(fetch(path, { method: "POST", body, mode: "no-cors", credentials: "include" })),
          marked: await outcome(fetch(path, { method: "POST", body, headers: { "X-Portcullis": "1" }, credentials: "include" })),
          read: await outcome(fetch(`${url}/v1/asks`, { credentials: "include" })),
          picture: await new Promise((done) => {
            const image = new Image();
            image.onload = () => done("loaded");
            image.onerror = () => done("refused");
            image.src = `${url}/icon.svg`;
          }),
          script: await new Promise((done) => {
            const script = document.createElement("script");
            script.onload = () => done("loaded");
            script.onerror = () => done("refused");
            script.src = `${url}/v1/asks`;
            document.head.append(script);
          }),
          socket: await new Promise((done) => {
            const socket = new WebSocket(`${url.replace("http", "ws")}/v1/ws`);
            socket.onopen = () => done("open");
            socket.onerror = () => done("refused");
          }),
        };
        const frame = document.createElement("iframe");
        frame.src = `${url}/#/inbox`;
        document.body.append(frame);
        const form = document.createElement("form");
        Object.assign(form, { action: path, method: "post", enctype: "text/plain", target: "into" });
        const into = document.createElement("iframe");
        into.name = "into";
        const field = document.createElement("input");
        Object.assign(field, { name: '{"answer":"approve","feedback":"', value: '"}' });
        form.append(field);
        document.body.append(into, form);
        form.submit();
        const opened = window.open(`${url}/#/inbox`);
        await new Promise((done) => setTimeout(done, 1500));
        return { ...all, opened: opened === null || opened.closed ? "severed" : "held" };
      },
      [daemon.url, ask],
    );
    // A request without our mark leaves; its answer tells nothing, and what counts is that it did nothing.
    assert.ok(["opaque", "refused"].includes(tried.plain), tried.plain);
    assert.deepEqual({ ...tried, plain: undefined }, { plain: undefined, marked: "refused", read: "refused", picture: "refused", script: "refused", socket: "refused", opened: "severed" });
    const framed = tab.frames().filter((frame) => frame !== tab.mainFrame());
    for (const frame of framed) {
      assert.equal(await frame.locator(".card, .ask-row, button").count().catch(() => 0), 0, `a frame shows ${frame.url()}`);
    }
    assert.equal((await daemon.ask(ask)).state, "pending");
    await other.close();
    stage.strangers.length = 0;
  },

  "what the daemon says is no page, and is kept nowhere": async ({ daemon, page }) => {
    await daemon.call("<script>owned()</script>");
    const heads = await page.evaluate(async () => {
      const half = localStorage.getItem("portcullis-page");
      const seen = {};
      for (const path of ["/v1/asks", "/v1/calls", "/v1/audit", "/v1/policy", "/v1/nowhere", "/v1/asks/x", "/v1/login"]) {
        const answer = await fetch(path, { headers: { "X-Portcullis-Page": half } });
        seen[path] = ["content-type", "x-content-type-options", "cache-control"].map((name) => answer.headers.get(name));
      }
      return seen;
    });
    for (const [path, [kind, sniff, cache]] of Object.entries(heads)) {
      assert.match(kind ?? "", /^application\/json/u, path);
      assert.equal(sniff, "nosniff", path);
      assert.equal(cache, "no-store", path);
    }
  },

  "every field an agent fills in is words": async ({ daemon, page }) => {
    await page.evaluate(() => {
      globalThis.violations = [];
      addEventListener("securitypolicyviolation", (event) => globalThis.violations.push(event.violatedDirective));
      globalThis.owned = () => globalThis.violations.push("owned");
    });
    let dialogs = 0;
    page.on("dialog", (dialog) => {
      dialogs += 1;
      void dialog.dismiss();
    });
    let asked = 0;
    for (const words of WORDS) {
      const label = words.slice(0, 200);
      const { outcome } = await daemon.call(`npm publish ${words}`, { agent: label, session: label, run: label, call_id: label, host: label, description: words, cwd: `/tmp/${words}` }).catch(async () =>
        // A host that nobody knows may be refused; everything else may not.
        daemon.call(`npm publish ${words}`, { agent: label, session: label, run: label, call_id: label, description: words, cwd: `/tmp/${words}` }),
      );
      if (outcome === "ask") asked += 1;
      const odd = await daemon.call("", { tool: `mcp__${words}`, input: { [words]: words, nested: [{ [words]: [words] }] }, agent: label, session: label });
      if (odd.outcome === "ask") asked += 1;
      const edit = await daemon.call("", { tool: "Edit", input: { file_path: `/srv/${words}`, old_string: words, new_string: `${words}!` }, agent: label, session: label });
      if (edit.outcome === "ask") asked += 1;
    }
    await waiting(page, asked);
    const rows = page.locator(".ask-row button");
    for (let index = 0; index < asked; index += 1) {
      await page.keyboard.press(index === 0 ? "k" : "j");
      await page.waitForFunction((at) => document.querySelectorAll(".ask-row.selected").length === 1 && at >= 0, index);
      await page.getByText("Why was this asked?").click();
      await calm(page);
      const wide = page.getByRole("radio", { name: "always" });
      if ((await wide.count()) > 0) await wide.click();
      const offer = page.locator(".choices label").nth(1);
      if ((await offer.count()) > 0) await offer.click();
      assert.deepEqual(await rawOf(page), [], `card ${index}`);
    }
    assert.ok((await rows.count()) > 0);
    // Some are answered, with words that come back, so that the other pages have them too.
    const { body } = await daemon.request(daemon.approver, "GET", "/v1/asks?limit=1000");
    for (const [index, ask] of body.asks.entries()) {
      if (index % 3 === 0) await daemon.decide(ask.id, { answer: "reject", feedback: WORDS[index % WORDS.length] });
      else if (index % 3 === 1) await daemon.decide(ask.id, { answer: "approve", scope: "session" });
    }
    await page.waitForTimeout(300);
    assert.deepEqual(await rawOf(page), [], "what was settled elsewhere");
    for (const name of PAGES) {
      await page.goto(`${daemon.url}/#/${name}`);
      await calm(page);
      for (const button of await page.locator(".past-head").all()) await button.click();
      for (const summary of await page.locator("main summary").all()) await summary.click({ timeout: 2000 }).catch(() => undefined);
      await calm(page);
      assert.deepEqual(await rawOf(page), [], name);
    }
    assert.equal(dialogs, 0);
    assert.deepEqual(await page.evaluate(() => globalThis.violations), []);
    assert.equal(await page.locator("iframe, main script, main img, main svg [onload], main a[href^=http], main a[href^=javascript]").count(), 0);
  },

  "what is told about other asks covers no call": async ({ daemon, page, another, shots }) => {
    const phone = await another({ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
    await phone.page.goto(await anotherLink(page, daemon));
    await phone.page.waitForSelector(".link.live");
    await daemon.call(`echo ${"x".repeat(400)}; rm -rf /srv/data`);
    for (const one of [page, phone.page]) await waiting(one, 1);
    await page.getByLabel("filter the inbox").fill("srv/data");
    assert.equal(await page.locator(".ask-row").count(), 1, "what a row shows is found");
    await page.getByLabel("filter the inbox").fill("");
    await phone.page.locator(".ask-row button").first().tap();
    for (const one of [page, phone.page]) await one.locator(".card").waitFor();
    // An agent takes asks back as often as it likes, and each time it is told, in its words.
    for (let turn = 0; turn < 4; turn += 1) {
      const { ask } = await daemon.call(`npm publish ${"W".repeat(300)} --tag t${turn}`);
      assert.equal((await daemon.request(AGENT, "DELETE", `/v1/asks/${ask}`)).status, 200);
    }
    for (const one of [page, phone.page]) {
      await one.locator(".toast", { hasText: "withdrawn" }).first().waitFor();
      const covered = await one.evaluate(() => {
        const main = document.querySelector("main").getBoundingClientRect();
        const boxes = [...document.querySelectorAll(".toast")].map((each) => each.getBoundingClientRect()).filter((box) => box.height > 0);
        const isOver = (box) => box.right > main.left + 1 && box.bottom > main.top + 1;
        return { count: boxes.length, over: boxes.filter(isOver).length, outside: boxes.filter((box) => box.left < 0 || box.top < 0 || box.bottom > innerHeight).length };
      });
      if (shots) await one.screenshot({ path: `${shots}/told-${one === page ? "desk" : "phone"}.png` });
      assert.ok(covered.count > 0);
      assert.deepEqual({ ...covered, count: undefined }, { count: undefined, over: 0, outside: 0 });
    }
  },

  "a hundred kilobytes are shown whole, and soon": async ({ daemon, page }) => {
    const long = `echo '${"<b>\u202e x</b>\n".repeat(8000)}'; rm -rf /srv/data`;
    await daemon.call(long);
    await page.locator(".card").waitFor();
    await page.locator("figcaption", { hasText: "KiB" }).first().waitFor();
    assert.match(await page.locator(".card").textContent(), /rm -rf \/srv\/data/u, "the dangerous part stands there at once");
    await page.getByRole("button", { name: "show all of it" }).click();
    const text = await page.locator(".card .command pre.text").first().textContent();
    assert.ok(text.endsWith("; rm -rf /srv/data"), text.slice(-40));
    assert.deepEqual(await rawOf(page), []);
  },
};
