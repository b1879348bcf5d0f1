// What a person does without meaning it: double clicks, held keys, words that go astray, and lists
// that move while one aims. None of it may decide about an ask that was not meant.

import assert from "node:assert/strict";
import { open, settle, waiting } from "./answers.mjs";
import { anotherLink } from "./stage.mjs";

/** Two clicks at one place, as fast as a hand. */
const twice = async (page, locator) => {
  const box = await locator.boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.click(x, y);
  await page.waitForTimeout(90);
  await page.mouse.click(x, y);
};

const states = (daemon, asks) => Promise.all(asks.map(async (ask) => (await daemon.ask(ask)).state));

const make = async (daemon, commands) => {
  const asks = [];
  for (const command of commands) asks.push((await daemon.call(command)).ask);
  return asks;
};

export const mishaps = {
  "a double click answers one ask": async ({ daemon, page }) => {
    const asks = await make(daemon, ["npm publish --tag one", "npm publish --tag two", "npm publish --tag three"]);
    await waiting(page, 3);
    await open(page, "one");
    await twice(page, page.locator("button.approve"));
    await waiting(page, 2);
    await page.waitForTimeout(300);
    assert.deepEqual(await states(daemon, asks), ["approved", "pending", "pending"]);
    // Whatever comes up under the second click of "next" is not answered by it.
    await page.locator("button.next").click();
    await page.evaluate(() => document.querySelector(".card button.approve").click());
    await page.evaluate(() => document.querySelector(".card button.reject").click());
    await page.getByText("had only just come up").waitFor();
    assert.deepEqual(await states(daemon, asks), ["approved", "pending", "pending"]);
  },

  "a double click does not take the second step": async ({ daemon, page }) => {
    const [ask] = await make(daemon, ["rm -rf /var/lib/data"]);
    await waiting(page, 1);
    await settle(page);
    await twice(page, page.locator("button.approve"));
    await page.waitForTimeout(300);
    assert.equal((await daemon.ask(ask)).state, "pending");
    await page.getByRole("alertdialog").waitFor();
    // Nor do two clicks on the spot where the button to run it comes up.
    const yes = await page.getByRole("button", { name: "Yes, run it" }).boundingBox();
    await page.getByRole("button", { name: "Go back" }).click();
    await settle(page);
    await page.evaluate(() => document.querySelector("button.approve").click());
    await page.mouse.click(yes.x + yes.width / 2, yes.y + yes.height / 2);
    await page.waitForTimeout(300);
    assert.equal((await daemon.ask(ask)).state, "pending");
    await settle(page);
    await page.getByRole("button", { name: "Yes, run it" }).click();
    await waiting(page, 0);
    assert.equal((await daemon.ask(ask)).state, "approved");
  },

  "a double tap on a phone": async ({ daemon, page, another }) => {
    const phone = await another({ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
    await phone.page.goto(await anotherLink(page, daemon));
    await phone.page.waitForSelector(".link.live");
    const asks = await make(daemon, Array.from({ length: 12 }, (_, index) => `npm publish --tag t${index}`));
    await waiting(phone.page, 12);
    // Each row in turn is tapped twice; the second tap falls on whatever the card has there.
    for (let index = 0; index < 9; index += 1) {
      const box = await phone.page.locator(".ask-row").nth(index).boundingBox();
      const [x, y] = [box.x + box.width * 0.75, box.y + box.height / 2];
      await phone.page.touchscreen.tap(x, y);
      await phone.page.waitForTimeout(60);
      await phone.page.touchscreen.tap(x, y);
      await phone.page.waitForTimeout(150);
      assert.ok((await states(daemon, asks)).every((state) => state === "pending"), `row ${index}`);
      const back = phone.page.getByRole("button", { name: "all asks" });
      if ((await back.count()) > 0) await back.click();
      await phone.page.locator(".ask-row").first().waitFor();
    }
  },

  "a mark that comes up under the hand is not set": async ({ daemon, page }) => {
    await make(daemon, ["npm install a", "npm install b"]);
    await waiting(page, 2);
    await settle(page);
    const box = await page.locator(".ask-row input").first().boundingBox();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    await page.mouse.move(x, y);
    await daemon.call("npm install evil");
    await waiting(page, 3);
    await page.mouse.click(x, y);
    assert.equal(await page.locator(".ask-row input:checked").count(), 0, "the row had just moved here");
    await settle(page);
    await page.mouse.click(x, y);
    assert.equal(await page.locator(".ask-row input:checked").count(), 1);
    // The buttons that come up with a mark do not take the click that set it.
    const asks = (await daemon.request(daemon.approver, "GET", "/v1/asks")).body.asks.map((ask) => ask.id);
    await page.locator(".many button.none").click();
    await settle(page);
    await page.locator(".ask-row input").first().check();
    await page.evaluate(() => document.querySelector(".many button.approve").click());
    await page.evaluate(() => document.querySelector(".many button.reject").click());
    await page.waitForTimeout(300);
    assert.deepEqual(await states(daemon, asks), ["pending", "pending", "pending"]);
  },

  "held keys decide about one ask at most": async ({ daemon, page }) => {
    const asks = await make(daemon, ["npm publish --tag one", "npm publish --tag two", "rm -rf /var/lib/data"]);
    await waiting(page, 3);
    await open(page, "rm -rf");
    const hold = async (key, times) => {
      for (let index = 0; index < times; index += 1) {
        await page.keyboard.down(key);
        await page.waitForTimeout(60);
      }
      await page.keyboard.up(key);
    };
    // The second step is not taken by the key that led there, nor by Enter.
    await hold("a", 20);
    await hold("Enter", 20);
    assert.deepEqual(await states(daemon, asks), ["pending", "pending", "pending"]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("j");
    await settle(page);
    await hold("a", 30);
    await page.keyboard.press("j");
    await hold("a", 3);
    await page.waitForTimeout(300);
    assert.deepEqual(await states(daemon, asks), ["pending", "approved", "pending"]);
    // Held on the way to the next one, Enter does not reject that one.
    await page.locator(".ask-row button").first().click();
    await settle(page);
    await page.keyboard.press("r");
    await page.locator("button.next").focus();
    await hold("Enter", 25);
    await page.waitForTimeout(300);
    assert.deepEqual(await states(daemon, asks), ["pending", "approved", "rejected"]);
    await page.locator(".card button.approve").waitFor();
  },

  "words that were meant for a field decide nothing": async ({ daemon, page }) => {
    const asks = await make(daemon, ["npm publish --tag one", "npm publish --tag two"]);
    await waiting(page, 2);
    await open(page, "two");
    const field = page.getByLabel("Tell the agent");
    await field.click();
    await page.keyboard.type("no, ", { delay: 30 });
    // Somebody else settles it, and the field is gone; the hands go on, slowly.
    await daemon.decide(asks[1], { answer: "reject" });
    await waiting(page, 1);
    await page.keyboard.type("jar area jaaay", { delay: 620 });
    await page.waitForTimeout(200);
    assert.deepEqual(await states(daemon, asks), ["pending", "rejected"]);
    // After a pause, keys are keys again.
    await page.waitForTimeout(1300);
    await page.keyboard.press("j");
    await settle(page);
    await page.keyboard.press("r");
    await waiting(page, 0);
    assert.deepEqual(await states(daemon, asks), ["rejected", "rejected"]);
  },

  "a new ask takes no focus": async ({ daemon, page }) => {
    await make(daemon, ["npm publish --tag one"]);
    await waiting(page, 1);
    await page.getByLabel("filter the inbox").click();
    await page.keyboard.type("pub");
    await make(daemon, ["rm -rf /srv/data", "npm publish --tag two"]);
    await waiting(page, 3);
    await page.keyboard.type("lish");
    assert.equal(await page.getByLabel("filter the inbox").inputValue(), "publish");
    assert.match(await page.locator(".card .command pre").first().textContent(), /one/u, "what is open stays open");
    assert.equal(await page.locator(".ask-row").count(), 2);
  },
};
