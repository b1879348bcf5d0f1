// Conversations of a real browser with a real daemon: `node conversations.mjs BINARY [--shots DIR]
// [NAME …]`. Each has a daemon and browsers of its own; the last line says how many ended well.

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
  // Whatever a conversation opens is looked at in the end.
  const another = async (options) => {
    const more = await browserOf(browser, daemon, options);
    stages.push(more);
    return more;
  };
  const whole = async () => {
    await daemon.start();
    const one = await another();
    await signIn(one, daemon);
    await play({ daemon, page: one.page, stage: one, another, shots });
  };
  try {
    await limited(whole());
    for (const { strangers, faults } of stages) {
      assert.deepEqual(strangers, [], "a request left the daemon");
      assert.deepEqual(faults.filter((fault) => !/net::ERR|Failed to load resource/u.test(fault)), [], "the page failed");
    }
  } catch (error) {
    if (shots && !(error instanceof Hung)) for (const [index, { page }] of stages.entries()) await page.screenshot({ path: `${shots}/failed-${name.replaceAll(" ", "-")}-${index}.png` }).catch(() => undefined);
    throw error;
  } finally {
    await limited(Promise.all(stages.map(({ context }) => context.close())), 10_000).catch(() => undefined);
    await limited(daemon.end(), 10_000).catch(() => daemon.child?.kill("SIGKILL"));
  }
};

/** So many are played at once: most of their time is waiting. What is timed is played alone, in the end. */
const LANES = 2;

const failed = [];
let played = 0;

/** Plays conversations one after the other, in a browser of its own, until there are none left. */
const lane = async (names) => {
  let browser = await launch();
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    const began = performance.now();
    try {
      try {
        await converse(browser, name, all[name]);
      } catch (error) {
        // Two cores are shared by browsers, daemons and whatever else runs: one more try, in a new
        // browser. A promise that is broken fails both times.
        console.log(`  ${name}: FLAKY, and is played again\n${error.stack}`);
        await limited(browser.close(), 10_000).catch(() => undefined);
        browser = await launch();
        await converse(browser, name, all[name]);
      }
      played += 1;
      console.log(`  ${name}: ${Math.round(performance.now() - began)} ms`);
    } catch (error) {
      failed.push(name);
      console.log(`  ${name}: FAILED\n${error.stack}`);
    }
  }
  await limited(browser.close(), 10_000).catch(() => undefined);
};

const unknown = [...wanted].filter((name) => !all[name]);
if (unknown.length > 0) {
  console.log(`browser: no such conversation: ${unknown.join(", ")}`);
  process.exit(1);
}
const names = Object.keys(all).filter((name) => wanted.size === 0 || wanted.has(name));
const together = names.filter((name) => !figures[name]);
await Promise.all(Array.from({ length: Math.min(LANES, together.length) }, () => lane(together)));
const alone = names.filter((name) => figures[name]);
if (alone.length > 0) await lane(alone);
if (failed.length > 0) {
  console.log(`browser: failed: ${failed.join(", ")}`);
  process.exit(1);
}
console.log(`browser: ${played} conversations ended well`);
// What hung may hold the process.
process.exit(0);
