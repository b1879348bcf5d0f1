// Answering in a browser: approvals, scopes, edits, races, restarts, deadlines, keys.

import assert from "node:assert/strict";
import { AGENT, anotherLink, asPage } from "./stage.mjs";

export const row = (page, text) => page.locator(".ask-row button", { hasText: text }).first();
const named = (page, name) => page.getByRole("button", { name, exact: false });

/** Waits until the inbox shows so many. */
export const waiting = (page, count) => page.waitForFunction((want) => document.querySelector(".inbox-head .tally")?.textContent === String(want), count);

/** A click or key too soon after something came up counts for nothing; people are slower than this. */
export const settle = (page) => page.waitForTimeout(650);

/** Opens an ask, and looks at it. */
export const open = async (page, text) => {
  await row(page, text).click();
  await settle(page);
};

export const answers = {
  "sign in and out": async ({ daemon, page, another }) => {
    assert.equal(new URL(page.url()).hash, "", "the code does not stay in the address");
    const late = await another();
    await late.page.goto(daemon.link);
    await late.page.getByText("was used or is too old").waitFor();
    await page.goto(`${daemon.url}/#/agents`);
    await page.getByText("this one").waitFor();
    const link = await anotherLink(page, daemon);
    // Another fragment is no other page: it has to be loaded anew.
    await late.page.goto("about:blank");
    await late.page.goto(link);
    await late.page.waitForSelector(".link.live");
    await page.reload();
    await page.waitForSelector(".link.live");
    assert.equal(await page.getByRole("region", { name: "browsers" }).getByRole("listitem").count(), 2);
    await page.getByRole("region", { name: "browsers" }).getByRole("listitem").filter({ hasText: "this one" }).getByRole("button").click();
    await page.getByText("Sign in with a link").waitFor();
  },

  "approve and reject": async ({ daemon, page }) => {
    const held = daemon.call("npm publish", { wait_ms: 20_000, description: "publishes <b>it</b>" });
    await open(page, "npm publish");
    await page.getByText("The agent’s words").waitFor();
    await named(page, "Approve once").click();
    const allowed = await held;
    assert.equal(allowed.outcome, "allow");
    assert.equal(allowed.decision.door, "dashboard");
    await waiting(page, 0);
    const refused = daemon.call("npm unpublish left-pad", { wait_ms: 20_000 });
    await open(page, "npm unpublish");
    await page.getByLabel("Tell the agent").fill("not today");
    await page.locator("button.reject").first().click();
    const answer = await refused;
    assert.equal(answer.outcome, "deny");
    assert.equal(answer.decision.feedback, "not today");
  },

  "scopes store the rule that is shown, and it is revoked": async ({ daemon, page }) => {
    await daemon.call("npm install left-pad", { run: "r-1" });
    await open(page, "npm install left-pad");
    const names = await page.getByRole("radiogroup", { name: "scope" }).getByRole("radio").allTextContents();
    assert.deepEqual(names, ["once", "this run", "this session", "always", "10 minutes"]);
    await page.getByRole("radio", { name: "always" }).click();
    assert.equal(await page.getByLabel("this very call").isChecked(), true, "no rule is chosen beforehand");
    const rule = page.locator(".choices label").nth(1);
    const text = await rule.textContent();
    await rule.click();
    assert.equal(await page.locator(".rule code").textContent(), text);
    await page.locator(".examples li").nth(2).waitFor();
    await named(page, "Approve: always").click();
    await waiting(page, 0);
    assert.equal((await daemon.call("npm install react")).outcome, "allow");
    await page.goto(`${daemon.url}/#/grants`);
    await page.locator(".row-card", { hasText: text }).waitFor();
    await page.locator(".row-card .uses b", { hasText: "1" }).waitFor();
    await named(page, "Revoke").click();
    await named(page, "Revoke it").click();
    await page.getByText("Nothing is granted").waitFor();
    assert.equal((await daemon.call("npm install vue")).outcome, "ask");
  },

  "minutes and uses end a grant": async ({ daemon, page }) => {
    await daemon.call("npm publish");
    await open(page, "npm publish");
    await page.getByRole("radio", { name: "10 minutes" }).click();
    await page.getByLabel("for uses").fill("3");
    await named(page, "Approve: this session").click();
    await waiting(page, 0);
    const { body } = await daemon.request(daemon.approver, "GET", "/v1/grants");
    assert.equal(body.grants.length, 1);
    assert.equal(body.grants[0].uses_left, 2);
    assert.ok(body.grants[0].expires_at);
  },

  "edit and approve, with the verdict before it is sent": async ({ daemon, page }) => {
    const held = daemon.call("npm publish", { wait_ms: 30_000 });
    await open(page, "npm publish");
    await named(page, "Edit").click();
    const area = page.getByLabel("What runs instead");
    await area.fill("shutdown -h now");
    await page.getByText("would be denied").waitFor();
    assert.equal(await named(page, "A rule denies this").isDisabled(), true);
    await area.fill("npm publish --dry-run");
    await named(page, "Approve the edited call").click();
    const answer = await held;
    assert.equal(answer.outcome, "allow");
    assert.deepEqual(answer.input, { command: "npm publish --dry-run" });
  },

  "what could destroy takes a second step": async ({ daemon, page }) => {
    const { ask } = await daemon.call(`echo ${"x".repeat(60)}; rm -rf /var/lib/data`);
    await open(page, "rm -rf");
    await page.locator("button.approve").click();
    const part = page.getByRole("alertdialog").locator("pre");
    assert.equal(await part.textContent(), "rm -rf /var/lib/data");
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Go back");
    await page.keyboard.press("Enter");
    assert.equal((await daemon.ask(ask)).state, "pending");
    await settle(page);
    await page.locator("button.approve").click();
    await settle(page);
    await named(page, "Yes, run it").click();
    await waiting(page, 0);
    assert.equal((await daemon.ask(ask)).state, "approved");
  },

  "many of the same kind at once": async ({ daemon, page }) => {
    const asks = [];
    for (const name of ["a", "b", "c"]) asks.push((await daemon.call(`npm install ${name}`)).ask);
    const other = (await daemon.call("git push origin main")).ask;
    await waiting(page, 4);
    await settle(page);
    await page.locator(".ask-row", { hasText: "npm install a" }).locator("input").check();
    await named(page, "mark all 3 of this kind").click();
    await page.locator(".ask-row", { hasText: "git push" }).locator("input").check();
    assert.equal(await named(page, "Approve 4 once").isDisabled(), true);
    await page.locator(".ask-row", { hasText: "git push" }).locator("input").uncheck();
    await settle(page);
    await named(page, "Approve 3 once").click();
    await waiting(page, 1);
    for (const ask of asks) assert.equal((await daemon.ask(ask)).state, "approved");
    assert.equal((await daemon.ask(other)).state, "pending");
  },

  "two browsers race, one wins, both know": async ({ daemon, page, another }) => {
    const second = await another();
    await second.page.goto(await anotherLink(page, daemon));
    await second.page.waitForSelector(".link.live");
    for (let round = 0; round < 3; round += 1) {
      const { ask } = await daemon.call(`npm publish --tag t${round}`);
      await Promise.all([page, second.page].map((one) => open(one, `t${round}`)));
      await Promise.all([page, second.page].map((one) => one.locator(".card button.approve").waitFor()));
      // Whoever is late finds no button any more; that is what settles the race.
      const press = (one, button) => one.evaluate((name) => document.querySelector(name)?.click(), button);
      await Promise.all([press(page, "button.approve"), press(second.page, "button.reject")]);
      await Promise.all([page, second.page].map((one) => one.locator(".settled").waitFor()));
      const texts = await Promise.all([page, second.page].map((one) => one.locator(".settled").textContent()));
      const { state, decision } = await daemon.ask(ask);
      for (const text of texts) {
        assert.ok(text.startsWith(state), `${text} but ${state}`);
        assert.ok(text.includes(decision.by), `${text} does not say who`);
      }
      await Promise.all([page, second.page].map((one) => waiting(one, 0)));
    }
  },

  "settled elsewhere": async ({ daemon, page }) => {
    const { ask } = await daemon.call("npm publish");
    await open(page, "npm publish");
    await daemon.decide(ask, { answer: "reject", feedback: "no" });
    await page.locator(".settled", { hasText: "rejected by owner" }).waitFor();
    await page.locator(".toast", { hasText: "rejected" }).waitFor();
    await waiting(page, 0);
    assert.equal(await page.locator("button.approve").count(), 0, "what is settled takes no answer");
  },

  "a restart of the daemon": async ({ daemon, page }) => {
    const first = (await daemon.call("npm publish")).ask;
    await waiting(page, 1);
    await daemon.stop();
    await page.locator("p.offline[role=alert]").waitFor();
    await settle(page);
    await page.locator("button.approve").click();
    await page.locator(".fault", { hasText: "does not answer" }).waitFor();
    await daemon.start();
    await page.waitForSelector(".link.live");
    await waiting(page, 1);
    assert.equal((await daemon.ask(first)).state, "pending");
    await daemon.call("git push");
    await waiting(page, 2);
    await open(page, "npm publish");
    await page.locator("button.approve").click();
    await waiting(page, 1);
    assert.equal((await daemon.ask(first)).state, "approved");
  },

  "a deadline": async ({ daemon, page }) => {
    await asPage(page, "PUT", "/v1/policy", "[asks]\ndeadline_s = 3\n");
    await daemon.call("npm publish");
    await open(page, "npm publish");
    assert.match(await page.locator(".deadline").textContent(), /^(00:0\d|time is up)$/u);
    await page.locator(".settled", { hasText: "nobody answered in time" }).waitFor();
    await waiting(page, 0);
  },

  "keys alone": async ({ daemon, page }) => {
    const one = (await daemon.call("npm publish --tag one")).ask;
    const two = (await daemon.call("npm publish --tag two")).ask;
    const three = (await daemon.call("npm publish --tag three")).ask;
    await waiting(page, 3);
    const shows = () => page.locator(".card .command pre").textContent();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "keys" }).waitFor();
    await page.keyboard.press("a");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    for (const ask of [one, two, three]) assert.equal((await daemon.ask(ask)).state, "pending");
    // The first one is open; down to the last one and up again.
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.waitForFunction(() => document.querySelector(".card .command pre")?.textContent?.includes("one"));
    await page.keyboard.press("k");
    await page.waitForFunction(() => document.querySelector(".card .command pre")?.textContent?.includes("two"));
    assert.match(await shows(), /two/u);
    await page.waitForFunction(() => document.activeElement?.textContent?.startsWith("Reject"));
    await page.keyboard.press("Escape");
    await settle(page);
    await page.keyboard.press("a");
    await waiting(page, 2);
    assert.equal((await daemon.ask(two)).state, "approved");
    await page.keyboard.press("j");
    await page.waitForFunction(() => document.querySelector(".card .command pre")?.textContent?.includes("three"));
    await settle(page);
    await page.keyboard.press("r");
    await waiting(page, 1);
    assert.equal((await daemon.ask(three)).state, "rejected");
    await page.keyboard.press("j");
    await page.waitForFunction(() => document.querySelector(".card .command pre")?.textContent?.includes("one"));
    await settle(page);
    await page.keyboard.press("e");
    await page.getByLabel("What runs instead").waitFor();
    await page.keyboard.press("End");
    await page.keyboard.type(" --dry-run");
    await page.waitForFunction(() => [...document.querySelectorAll("button.approve")].some((each) => !each.disabled && each.textContent === "Approve the edited call"));
    await page.keyboard.press("Tab");
    await page.waitForTimeout(100);
    for (let tabs = 0; tabs < 8; tabs += 1) {
      if (await page.evaluate(() => document.activeElement?.textContent === "Approve the edited call")) break;
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    await waiting(page, 0);
    assert.deepEqual((await daemon.ask(one)).decision.input, { command: "npm publish --tag one --dry-run" });
  },

  "no answer without the mark of our page": async ({ daemon, page }) => {
    const { ask } = await daemon.call("npm publish");
    const status = await page.evaluate(async (id) => (await fetch(`/v1/asks/${id}/decision`, { method: "POST", headers: { "X-Portcullis-Page": localStorage.getItem("portcullis-page") }, body: '{"answer":"approve"}' })).status, ask);
    assert.equal(status, 403);
    assert.equal((await daemon.request(AGENT, "POST", `/v1/asks/${ask}/decision`, { answer: "approve" })).status, 403);
    assert.equal((await daemon.ask(ask)).state, "pending");
  },
};
