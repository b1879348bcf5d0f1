// @vitest-environment node
// The law of showing: the shown text leads back to the text, for every code point there is.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { line, misleads, shown } from "../src/show";

const joined = (text: string): string => shown(text).map((piece) => piece.text).join("");

/** Reads a shown text back, knowing nothing but the signs. */
const readBack = (text: string): string =>
  text.replace(/\u22ef(\d+) blanks\u22ef|\u2423|\u23ce\n?|\u21e5\t?|\\x([0-9a-f]{2})|\\u\{([0-9a-f]+)\}/gu, (whole, blanks?: string, byte?: string, code?: string) => {
    if (blanks !== undefined) return " ".repeat(Number(blanks));
    if (whole.startsWith("\u2423")) return " ";
    if (whole.startsWith("\u23ce")) return "\n";
    if (whole.startsWith("\u21e5")) return "\t";
    return String.fromCodePoint(Number.parseInt((byte ?? code) as string, 16));
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
      const between = portion.join("x");
      if (readBack(joined(between)) !== between) wrong.push(between);
      const beside = portion.join("");
      if (readBack(line(beside)) !== beside) wrong.push(beside);
    }
    expect(wrong).toEqual([]);
    expect(seen.size).toBe(0x110000);
  }, 240_000);

  test("texts are read back", () => {
    const signs = fc.oneof(
      fc.constantFrom("\u202e", "\u200b", "\u00a0", "\n", "\t", "\r", "\x1b", " ", "  ", "\\", "x1b", "u{41}", "\u22ef", "\u2423", "\u23ce", "\u22ef9 blanks\u22ef", " ".repeat(30), "\u0430", "a"),
      fc.string({ unit: "binary", maxLength: 3 }),
    );
    const texts = fc.array(signs, { maxLength: 40 }).map((parts) => parts.join(""));
    fc.assert(fc.property(texts, (text) => readBack(joined(text)) === text && readBack(line(text)) === text), { numRuns: 1000 });
  }, 60_000);

  test("half a pair is spelled out", () => {
    expect(joined("a\ud800b")).toBe("a\\u{d800}b");
  });
});

test.each(["hazard.rs", "glyph/lookalikes.rs"])("what the terminal spells out by %s is spelled out here too", (name) => {
  const source = readFileSync(`../crates/shell/src/${name}`, "utf8");
  const hex = "(?:0x([0-9A-F]+)|'\\\\u\\{([0-9a-f]+)\\}')";
  const ranges = [...source.matchAll(new RegExp(`\\(${hex},\\s+${hex}[,)]`, "gu"))];
  expect(ranges.length).toBeGreaterThan(25);
  const shownAsTheyAre: string[] = [];
  for (const [, a, b, c, d] of ranges) {
    for (let code = Number.parseInt((a ?? b) as string, 16); code <= Number.parseInt((c ?? d) as string, 16); code += 1) {
      if (shown(String.fromCodePoint(code))[0]?.kind !== "escape") shownAsTheyAre.push(code.toString(16));
    }
  }
  expect(shownAsTheyAre).toEqual([]);
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
  ["a\nb\tc\rd", "a\u23ceb\u21e5c\\x0dd", "ends of lines and tabs have a sign"],
  ["\x1b[2J", "\\x1b[2J", "controls are spelled out as the terminal does"],
  ["\\x1b[2J", "\\x5cx1b[2J", "a written spelling is none"],
  ["\\u{202e}", "\\x5cu{202e}", "nor is the other one"],
  ["tr -d '\\r\\n\\\\' \\xyz", "tr -d '\\r\\n\\\\' \\xyz", "other backslashes stay"],
  ["x".padEnd(40) + "; rm y", "x\u22ef39 blanks\u22ef; rm y", "padding shows its length"],
  ["ls ", "ls\u2423", "a blank at the end shows"],
  ["\u23ce \u22ef", "\\u{23ce} \\u{22ef}", "our own signs, written"],
  ["a\u202eb", "a\\u{202e}b", "turned writing"],
  ["\u05d01", "\\u{5d0}1", "writing from the right"],
  ["r\u043cdir", "r\\u{43c}dir", "a letter of another script in a word"],
  ["\u0441\u043e\u0440\u0443", "\\u{441}\\u{43e}\\u{440}\\u{443}", "a word that passes for another"],
  ["\u043f\u0440\u0438\u0432\u0435\u0442", "\u043f\u0440\u0438\u0432\u0435\u0442", "a word of one script stays readable"],
  ["Python\u3067\u66f8\u304f", "Python\u3067\u66f8\u304f", "scripts that nobody takes for Latin may stand beside it"],
  ["cafe\u0301", "cafe\\u{301}", "what joins is spelled out"],
  ["caf\u00e9 \u65e5", "caf\u00e9 \u65e5", "letters of other languages"],
])("%j is shown as %j: %s", (text, want) => {
  expect(line(text)).toBe(want);
});

test("words that mix scripts are told", () => {
  expect(misleads("p\u0430ypal.com")).toBe(true);
  expect(misleads("caf\u00e9")).toBe(false);
});
