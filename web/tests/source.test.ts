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

test("the lock file is whole: what only other machines need stands in it too, each with its sum", () => {
  type Part = { version?: string; integrity?: string; optionalDependencies?: Record<string, string> };
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as { packages: Record<string, Part> };
  const parts = Object.entries(packages).filter(([place]) => place !== "");
  expect(parts.filter(([, part]) => !part.version || !part.integrity?.startsWith("sha512-"))).toEqual([]);
  const named = parts.flatMap(([, part]) => Object.keys(part.optionalDependencies ?? {}));
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !packages[`node_modules/${name}`])).toEqual([]);
});
