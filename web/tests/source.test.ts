// @vitest-environment node
// The house's rules for the dashboard's own source.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/u.test(name));

test("text of calls is never put in as HTML, and nothing is run from text", () => {
  for (const name of files) {
    const text = readFileSync(join("src", name), "utf8");
    expect(text, name).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|\beval\(|new Function/u);
    expect(text, name).not.toMatch(/https?:\/\/(?!\$)/u);
  }
});

test("the lock file names no registry", () => {
  expect(readFileSync("package-lock.json", "utf8")).not.toMatch(/"resolved"|https?:\/\/registry/u);
});
