// Figures: how soon the dashboard can be used, how it scrolls, how it is installed and notifies.
// What is counted is asserted; what is timed is printed, since machines differ.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { settle, waiting } from "./answers.mjs";

const ROWS = 1000;

const quantile = (values, part) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))];

/** Fills the inbox. */
const fill = async (daemon, count) => {
  for (let index = 0; index < count; index += 50) {
    await Promise.all(Array.from({ length: Math.min(50, count - index) }, (_, more) => daemon.call(`npm install package-${index + more}`)));
  }
};

/** Loads the page anew; gives the milliseconds until the inbox takes keys, and what was asked for till then. */
const load = async (page, rows) => {
  const asked = [];
  const note = (request) => asked.push(new URL(request.url()).pathname);
  page.on("request", note);
  await page.reload({ waitUntil: "commit" });
  const took = await page.evaluate(
    (want) =>
      new Promise((done) => {
        const look = () => {
          const isThere = document.querySelector(".link.live") && (want === 0 || document.querySelector(".card button.reject"));
          if (isThere) done(performance.now());
          else requestAnimationFrame(look);
        };
        look();
      }),
    rows,
  );
  page.off("request", note);
  return { took, asked };
};

/** The milliseconds of CPU that the page's thread has had, and those of the daemon. */
const worked = async (client, daemon) => {
  const { metrics } = await client.send("Performance.getMetrics");
  const [user, system] = readFileSync(`/proc/${daemon.child.pid}/stat`, "utf8").split(") ")[1].split(" ").slice(11, 13).map(Number);
  return [metrics.find(({ name }) => name === "TaskDuration").value * 1000, (user + system) * 10];
};

/** How soon it can be used; and the CPU that took, which tells a slow page from a busy machine. */
const measure = async ({ page, context }, daemon, rows, times) => {
  const client = await context.newCDPSession(page);
  await client.send("Performance.enable", { timeDomain: "threadTicks" });
  const all = [];
  const cpu = [0, 0];
  for (let turn = 0; turn < times; turn += 1) {
    const [, before] = await worked(client, daemon);
    all.push(await load(page, rows));
    // The page's thread is counted from its address on.
    const [ofPage, after] = await worked(client, daemon);
    cpu[0] += ofPage / times;
    cpu[1] += (after - before) / times;
    await waiting(page, rows);
  }
  await client.detach();
  const took = all.map((one) => one.took);
  const [middle, most] = [0.5, 0.95].map((part) => Math.round(quantile(took, part)));
  return { asked: all.at(-1).asked, text: `${middle} (95 of 100: ${most}; CPU of the page ${Math.round(cpu[0])}, of the daemon ${Math.round(cpu[1])}) ms` };
};

export const figures = {
  "how soon it can be used, and how it scrolls": async ({ daemon, page, stage }) => {
    const empty = await measure(stage, daemon, 0, 15);
    assert.ok(empty.asked.length <= 8, `asked for ${empty.asked}`);
    await daemon.call("npm publish");
    const one = await measure(stage, daemon, 1, 15);
    await fill(daemon, ROWS - 1);
    await waiting(page, ROWS);
    const many = await measure(stage, daemon, ROWS, 7);
    const drawn = await page.locator(".ask-row").count();
    assert.ok(drawn < 40, `${drawn} rows are drawn`);
    const client = await stage.context.newCDPSession(page);
    await client.send("Performance.enable", { timeDomain: "threadTicks" });
    const [before] = await worked(client, daemon);
    const scroll = await page.evaluate(async () => {
      const box = document.querySelector(".windowed");
      let nodes = 0;
      const watch = new MutationObserver((records) => {
        for (const record of records) nodes += record.addedNodes.length;
      });
      watch.observe(box, { childList: true, subtree: true });
      const frames = [];
      let last = performance.now();
      let most = 0;
      for (let step = 0; step < 200; step += 1) {
        box.scrollTop += 204;
        await new Promise((done) => requestAnimationFrame(done));
        frames.push(performance.now() - last);
        last = performance.now();
        most = Math.max(most, box.querySelectorAll(".ask-row").length);
      }
      watch.disconnect();
      return { frames, nodes, most, last: Number([...box.querySelectorAll(".windowed-row")].at(-1).getAttribute("aria-posinset")) };
    });
    const [after] = await worked(client, daemon);
    assert.ok(scroll.last > 600, `scrolled to ${scroll.last}`);
    assert.ok(scroll.most < 40, `${scroll.most} rows at once`);
    assert.ok(scroll.nodes <= 200 * 6 + 80, `${scroll.nodes} nodes were made for 600 rows`);
    // While one looks, more come: the page stays awake.
    const busy = page.evaluate(async () => {
      const gaps = [];
      let last = performance.now();
      while (document.querySelector(".inbox-head .tally").textContent !== "1100" && gaps.length < 3000) {
        await new Promise((done) => requestAnimationFrame(done));
        gaps.push(performance.now() - last);
        last = performance.now();
      }
      return gaps;
    });
    await fill(daemon, 100);
    const gaps = await busy;
    const text = (values) => `middle ${quantile(values, 0.5).toFixed(1)}, 99th of 100 ${quantile(values, 0.99).toFixed(1)}, worst ${Math.max(...values).toFixed(1)} ms`;
    console.log(`  usable after: empty ${empty.text}, one ask ${one.text}, ${ROWS} asks ${many.text}`);
    console.log(`  frames while scrolling 600 of ${ROWS} rows: ${text(scroll.frames)}, CPU of the page ${((after - before) / scroll.frames.length).toFixed(1)} ms each; while 100 more come: ${text(gaps)}`);
  },

  "installed, and it notifies": async ({ daemon, page, stage }) => {
    const client = await stage.context.newCDPSession(page);
    const { errors, url } = await client.send("Page.getAppManifest");
    assert.deepEqual([errors, url], [[], `${daemon.url}/manifest.webmanifest`]);
    const { installabilityErrors } = await client.send("Page.getInstallabilityErrors");
    assert.deepEqual(installabilityErrors.map((error) => error.errorId).filter((id) => id !== "in-incognito"), []);
    await stage.context.grantPermissions(["notifications"], { origin: daemon.url });
    await page.reload();
    await page.waitForSelector(".link.live");
    assert.equal(await page.getByRole("button", { name: "Notify me" }).count(), 0, "there is nothing left to ask for");
    const shown = () =>
      page.evaluate(async () => {
        const known = await navigator.serviceWorker.getRegistration();
        return ((await known?.getNotifications()) ?? []).map(({ title, body, tag }) => ({ title, body, tag }));
      });
    // A page in front says nothing; one behind does.
    await daemon.call("npm publish --tag seen");
    await waiting(page, 1);
    assert.deepEqual(await shown(), []);
    await page.evaluate(() => Object.defineProperty(document, "hidden", { configurable: true, get: () => true }));
    await daemon.call("npm publish \u202e\u001b]0;x\u0007", { agent: "evil\u202eagent" });
    await page.waitForFunction(async () => (await (await navigator.serviceWorker.getRegistration())?.getNotifications())?.length === 1);
    for (let turn = 0; turn < 20; turn += 1) await daemon.call(`npm install flood-${turn}`);
    await daemon.call("rm -rf /srv/data");
    await waiting(page, 23);
    await page.waitForFunction(async () => (await (await navigator.serviceWorker.getRegistration()).getNotifications())[0]?.title.startsWith("23 "));
    assert.deepEqual(await shown(), [{ title: "23 asks wait, the worst is destructive", body: "rm -rf /srv/data", tag: "portcullis" }], "one, with the worst in it");
    // A click on it brings the page to the front and answers nothing.
    const [worker] = stage.context.serviceWorkers();
    await worker.evaluate(async () => {
      const [notification] = await self.registration.getNotifications();
      self.dispatchEvent(new NotificationEvent("notificationclick", { notification }));
    });
    await settle(page);
    assert.deepEqual(await shown(), []);
    const { body } = await daemon.request(daemon.approver, "GET", "/v1/asks?limit=1000");
    assert.equal(body.asks.length, 23);
    await daemon.call("npm publish --tag late");
    await page.waitForFunction(async () => (await (await navigator.serviceWorker.getRegistration()).getNotifications()).length === 1);
    for (const ask of [...body.asks, ...(await daemon.request(daemon.approver, "GET", "/v1/asks?limit=1000")).body.asks]) await daemon.decide(ask.id, { answer: "reject" });
    await waiting(page, 0);
    await page.waitForFunction(async () => (await (await navigator.serviceWorker.getRegistration()).getNotifications()).length === 0);
  },
};
