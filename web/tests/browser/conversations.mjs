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
const browser = await launch();
const failed = [];
let played = 0;
for (const [name, play] of Object.entries(all)) {
  if (wanted.size > 0 && !wanted.has(name)) continue;
  const daemon = new Daemon(binary, POLICY);
  const began = performance.now();
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
    await play({ daemon, page: one.page, stage: one, another, shots });
    for (const { strangers, faults } of stages) {
      assert.deepEqual(strangers, [], "a request left the daemon");
      assert.deepEqual(faults.filter((fault) => !/net::ERR|Failed to load resource/u.test(fault)), [], "the page failed");
    }
    played += 1;
    console.log(`  ${name}: ${Math.round(performance.now() - began)} ms`);
  } catch (error) {
    failed.push(name);
    console.log(`  ${name}: FAILED\n${error.stack}`);
    if (shots) for (const [index, { page }] of stages.entries()) await page.screenshot({ path: `${shots}/failed-${name.replaceAll(" ", "-")}-${index}.png` }).catch(() => undefined);
  } finally {
    for (const { context } of stages) await context.close();
    await daemon.end().catch(() => undefined);
  }
}
await browser.close();
if (failed.length > 0) {
  console.log(`browser: failed: ${failed.join(", ")}`);
  process.exit(1);
}
console.log(`browser: ${played} conversations ended well`);
