// Conversations of a real browser with a real daemon: `node conversations.mjs BINARY [--shots DIR]
// [NAME …]`. Each takes the stage alone, one after the other; the last line says how many ended well.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { answers } from "./answers.mjs";
import { attacks } from "./attacks.mjs";
import { figures } from "./figures.mjs";
import { looks } from "./looks.mjs";
import { mishaps } from "./mishaps.mjs";
import { pages } from "./pages.mjs";
import { Daemon, browserOf, launch, signIn } from "./stage.mjs";

const POLICY = `mode = "default"

[rules]
allow = ["Read(**)", "Bash(cargo test:*)"]
ask = ["Bash(git push:*)"]
deny = ["Bash(shutdown:*)"]

[[test]]
command = "rm -rf /"
outcome = "ask"
`;

const [binary, ...rest] = process.argv.slice(2);
const at = rest.indexOf("--shots");
const shots = at < 0 ? undefined : rest.splice(at, 2)[1];
if (shots) mkdirSync(shots, { recursive: true });
const wanted = new Set(rest);

const all = { ...answers, ...pages, ...looks, ...attacks, ...mishaps, ...figures };
/** A conversation that takes longer hangs; the longest takes a minute. */
const MOST_MS = 240_000;

class Hung extends Error {}

const limited = (promise, ms = MOST_MS) => {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Hung(`it did not end within ${ms / 1000} s`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

const converse = async (browser, name, play) => {
  const daemon = new Daemon(binary, POLICY);
  const stages = [];
  try {
    await daemon.start();
    const one = await browserOf(browser, daemon);
    stages.push(one);
    await signIn(one, daemon);
    // Whatever else a conversation opens is looked at in the end, too.
    const another = async (options) => {
      const more = await browserOf(browser, daemon, options);
      stages.push(more);
      return more;
    };
    await limited(play({ daemon, page: one.page, stage: one, another, shots }));
    for (const { strangers, faults } of stages) {
      assert.deepEqual(strangers, [], "a request left the daemon");
      assert.deepEqual(faults.filter((fault) => !/net::ERR|Failed to load resource/u.test(fault)), [], "the page failed");
    }
  } catch (error) {
    if (shots && !(error instanceof Hung)) for (const [index, { page }] of stages.entries()) await page.screenshot({ path: `${shots}/failed-${name.replaceAll(" ", "-")}-${index}.png` }).catch(() => undefined);
    throw error;
  } finally {
    await limited(Promise.all(stages.map(({ context }) => context.close())), 10_000).catch(() => undefined);
    await daemon.end().catch(() => undefined);
  }
};

let browser = await launch();
const failed = [];
let played = 0;
for (const [name, play] of Object.entries(all)) {
  if (wanted.size > 0 && !wanted.has(name)) continue;
  const began = performance.now();
  try {
    try {
      await converse(browser, name, play);
    } catch (error) {
      if (!(error instanceof Hung)) throw error;
      // A browser may hang by itself: one more try, in another.
      console.log(`  ${name}: hung, and is played again`);
      await limited(browser.close(), 10_000).catch(() => undefined);
      browser = await launch();
      await converse(browser, name, play);
    }
    played += 1;
    console.log(`  ${name}: ${Math.round(performance.now() - began)} ms`);
  } catch (error) {
    failed.push(name);
    console.log(`  ${name}: FAILED\n${error.stack}`);
  }
}
await browser.close();
if (failed.length > 0) {
  console.log(`browser: failed: ${failed.join(", ")}`);
  process.exit(1);
}
console.log(`browser: ${played} conversations ended well`);
// What hung may hold the process.
process.exit(0);
