// @vitest-environment node
// The law of showing: the shown text leads back to the text, for every code point there is.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { line, misleads, shown } from "../src/show";

const joined = (text: string): string => shown(text).map((piece) => piece.text).join("");

/** Reads a shown text back, knowing nothing but the marks. */
const readBack = (text: string): string =>
  text.replace(/\u2039([^\u203a]*)\u203a|\u23ce\n?|\u21e5\t?/gu, (whole, inner: string | undefined) => {
    if (inner === undefined) return whole.startsWith("\u23ce") ? "\n" : "\t";
    const blanks = /^(\d+) blanks?$/u.exec(inner);
    if (blanks) return " ".repeat(Number(blanks[1]));
    if (inner === "\\r") return "\r";
    const code = /^\\(?:x([0-9a-f]{2})|u\{([0-9a-f]+)\})$/u.exec(inner);
    if (!code) throw new Error(`no way back from ${inner}`);
    return String.fromCodePoint(Number.parseInt((code[1] ?? code[2]) as string, 16));
  });

/** Every code point there is, in portions. */
const portions = function* (): Generator<string[]> {
  for (let code = 0; code <= 0x10ffff; code += 256) {
    yield Array.from({ length: 256 }, (_, index) => String.fromCodePoint(code + index));
  }
};

describe("two different texts never look the same", () => {
  test("every code point is read back, alone and between others, and like no other", () => {
    const wrong: string[] = [];
    const seen = new Set<string>();
    for (const portion of portions()) {
      for (const sign of portion) {
        const shows = joined(sign);
        seen.add(shows.normalize("NFKC"));
        if (readBack(shows) !== sign) wrong.push(sign);
      }
      for (const text of [portion.join("x"), portion.join(" -r"), portion.join("")]) {
        if (readBack(joined(text)) !== text || readBack(line(text)) !== text) wrong.push(text);
      }
    }
    expect(wrong).toEqual([]);
    expect(seen.size).toBe(0x110000);
  }, 240_000);

  test("texts are read back", () => {
    const signs = fc.oneof(
      fc.constantFrom("\u202e", "\u200b", "\u00a0", "\n", "\t", "\r", "\x1b", " ", "  ", "\\", "\u2039", "\u203a", "\u23ce", "9 blanks", "\u0430", "a"),
      fc.string({ unit: "binary", maxLength: 3 }),
    );
    const texts = fc.array(signs, { maxLength: 40 }).map((parts) => parts.join(""));
    fc.assert(fc.property(texts, (text) => readBack(joined(text)) === text && readBack(line(text)) === text), { numRuns: 1000 });
  }, 60_000);

  test("half a pair is spelled out", () => {
    expect(joined("a\ud800b")).toBe("a\u2039\\u{d800}\u203ab");
  });
});

test("what the shell's reader calls misleading is spelled out here too", () => {
  const source = readFileSync("../crates/shell/src/hazard.rs", "utf8");
  const ranges = [...source.matchAll(/\(0x([0-9A-F]+), 0x([0-9A-F]+), HazardKind::\w+\)/gu)];
  expect(ranges.length).toBeGreaterThan(25);
  for (const [, first, last] of ranges) {
    for (let code = Number.parseInt(first as string, 16); code <= Number.parseInt(last as string, 16); code += 1) {
      const [piece] = shown(String.fromCodePoint(code));
      expect(piece?.kind, code.toString(16)).toBe("escape");
    }
  }
});

test("pieces know their bytes", () => {
  const text = "caf\u00e9 \u65e5\u{1f600}  x";
  const bytes = new TextEncoder().encode(text);
  const pieces = shown(text);
  expect(pieces.at(-1)?.to).toBe(bytes.length);
  for (const piece of pieces) {
    expect(new TextDecoder().decode(bytes.slice(piece.from, piece.to))).toBe(piece.text);
  }
});

test.each([
  ["ls -la", "ls -la", "plain text is itself"],
  ["a\nb\tc\rd", "a\u23ceb\u21e5c\u2039\\r\u203ad", "ends of lines and tabs have a sign"],
  ["\x1b[2J", "\u2039\\x1b\u203a[2J", "controls are spelled out as the terminal does"],
  ["x".padEnd(40) + "; rm y", "x\u203939 blanks\u203a; rm y", "padding shows its length"],
  ["ls ", "ls\u20391 blank\u203a", "a blank at the end shows"],
  ["r\u043cdir", "r\u2039\\u{43c}\u203adir", "a letter of another script in a word"],
  ["\u0441\u043e\u0440\u0443", "\u2039\\u{441}\u203a\u2039\\u{43e}\u203a\u2039\\u{440}\u203a\u2039\\u{443}\u203a", "a word that passes for another"],
  ["\u043f\u0440\u0438\u0432\u0435\u0442", "\u043f\u0440\u0438\u0432\u0435\u0442", "a word of one script stays readable"],
  ["e\u0301", "e\u2039\\u{301}\u203a", "what joins is spelled out"],
])("%j is shown as %j: %s", (text, want) => {
  expect(line(text)).toBe(want);
});

test("words that mix scripts are told", () => {
  expect(misleads("p\u0430ypal.com")).toBe(true);
  expect(misleads("caf\u00e9")).toBe(false);
});
