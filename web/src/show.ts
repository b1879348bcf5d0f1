// Showing text of calls: two different texts never look the same.
//
// Whatever could hide, reorder, move or pass for something else is spelled out as the terminal does
// (`crates/shell/src/glyph.rs`): `\x1b`, `\u{202e}`; a line end is `⏎`, a tab `⇥`, a blank at the end
// of a line `␣`, many blanks `⋯120 blanks⋯`; a written backslash that would read as a spelling is
// spelled out itself. So the shown text leads back to the text: `tests/show.test.ts` reads it back.

/** What a piece of shown text is. */
export type Kind = "plain" | "escape" | "foreign" | "blank" | "blanks" | "break" | "tab";

/** A piece of text as it is shown. */
export interface Piece {
  kind: Kind;
  /** What is shown. */
  text: string;
  /** Its bytes in the text: the first, and the one behind the last. */
  from: number;
  to: number;
}

/** Runs of blanks longer than this are shown by their number. */
const MOST_BLANKS = 24;

const BREAK = "\u23ce";
const TAB = "\u21e5";
const BLANK = "\u2423";
const MANY = "\u22ef";

/** Signs that are ours: where a text has them, they are spelled out. */
const OURS = new Set([BREAK, TAB, BLANK, MANY].map((sign) => sign.codePointAt(0)));

/** Marks of writing that people use every day; they are shown, and marked as not plain. */
const EVERYDAY = new Set([0x2014, 0x3001, 0x3002, 0x30fc]);

/** Nothing of these kinds shows by itself what it is: controls, blanks, marks that join, signs. */
const UNSURE = /[\p{C}\p{Z}\p{M}\p{P}\p{Sm}\p{Sk}\p{Lm}\p{Default_Ignorable_Code_Point}\p{Regional_Indicator}\u115f\u1160\u2800\u3164\uffa0\ufffc\ufffd]/u;

/** What joins, is written from the right, or looks like others wherever it stands; as the terminal has it. */
const ALWAYS =
  "b4 131 17f 1c0-1c3 251 261 26a 2b0-2ff 374-375 37e 387 589 590-8ff d4e 1100-11ff 13a0-13ff 1680-169c " +
  "16eb-16ed 1d00-1dbf 1f71 1f73 1f75 1f77 1f79 1f7b 1f7d 1fbb-1fc1 1fc9 1fcb 1fcd-1fcf 1fd3 1fdb " +
  "1fdd-1fdf 1fe3 1feb 1fed-1fef 1ff9 1ffb 1ffd-1ffe 2010-2013 2015-201f 2024-2025 2032-2037 2039-203a " +
  "203c 2041 2043-2044 2047-2049 204e-204f 2052-2053 2057 205a 2070-209c 2100-214f 2160-2188 2212 " +
  "2215-2219 2223 2225 2236 223c 22c5-22c6 2329-232a 2373-237a 23d0 2460-24ff 2758-275f 2768-2775 " +
  "2795-2797 27cb-27cd 292b-292c 2983-2986 29f5-29f9 2a74-2a76 2c60-2cff 2d4f 2d54-2d55 2e80-2fdf " +
  "3008-3009 3014-3015 3033 3200-33ff 4e36 4e3f a4d0-a4ff a60e a6df a700-a7ff a8fa a960-a97f aa32 " +
  "ab30-abbf d7b0-d7ff f900-fdff fe10-feff ff02-ff07 ff0a-ff0b ff0d-ff19 ff1b-ff1e ff20-ffdc ffe0-ffee " +
  "10100-1018e 10280-1049d 10500-105ff 10780-107ba 10800-10fff 111c2-111c3 113d1 118a0-118ff 1193f " +
  "11941 11a84-11a89 11d46 11f02 16f00-16fff 1ccd6-1ccf9 1d100-1d1ff 1d206-1d245 1d400-1d7ff " +
  "1df00-1dfff 1e030-1e06d 1e800-1efff 1f100-1f2ff 1f3fb-1f3ff 1f700-1f77f 1fbf0-1fbf9 2f800-2fa1f";

const RANGES = ALWAYS.split(" ").map((range) => range.split("-").map((code) => Number.parseInt(code, 16)));

/** Whether a code point is in one of the ranges, which are sorted. */
const isRanged = (code: number): boolean => {
  let [low, high] = [0, RANGES.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const [first = 0, last = first] = RANGES[middle] ?? [];
    if (code < first) high = middle - 1;
    else if (code > last) low = middle + 1;
    else return true;
  }
  return false;
};

/** Letters of other scripts that look like those of ASCII. */
const LOOKALIKES = new Set(
  "\u037f\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03b1" +
    "\u03b3\u03b7\u03b9\u03ba\u03bd\u03bf\u03c1\u03c3\u03c5\u03c7\u03c9\u03dc\u03f1\u03f2\u03f3\u03f9" +
    "\u0405\u0406\u0408\u0410\u0412\u0415\u0417\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425" +
    "\u0430\u0431\u0432\u0433\u0435\u043a\u043c\u043e\u043f\u0440\u0441\u0443\u0445\u044c\u0455\u0456" +
    "\u0458\u0474\u0475\u04ae\u04af\u04ba\u04bb\u04bd\u04c0\u04cf\u04e1\u0501\u050c\u050d\u051a\u051b" +
    "\u051c\u051d\u053c\u0545\u054d\u054f\u0555\u0561\u0565\u0566\u0570\u0575\u0578\u057d\u0581\u0582" +
    "\u0584\u0585",
);

/** The scripts whose letters are taken for one another. */
const SCRIPTS = [/\p{Script=Latin}/u, /\p{Script=Greek}/u, /\p{Script=Cyrillic}/u, /\p{Script=Armenian}/u];

/** Which of them a sign belongs to; below zero where to none, and zero for Latin. */
const scriptOf = (sign: string): number => SCRIPTS.findIndex((script) => script.test(sign));

/** How many bytes a code point takes in UTF-8; half a pair counts as what stands in for it. */
const width = (code: number): number => (code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);

/** A code point in the words of the terminal. */
const spelled = (code: number): string => {
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, "0")}`;
  return `\\u{${code.toString(16)}}`;
};

/** Whether a character beyond ASCII is spelled out wherever it stands. */
const isUnsure = (sign: string, code: number): boolean => {
  if (OURS.has(code)) return true;
  if (EVERYDAY.has(code)) return false;
  return UNSURE.test(sign) || isRanged(code) || sign.normalize("NFKC") !== sign;
};

/** Whether a word mixes scripts, or could be taken for a Latin one. */
const passing = (word: string[]): boolean => {
  if (word.every((sign) => sign < "\x7f")) return false;
  const scripts = new Set(word.map(scriptOf).filter((script) => script >= 0));
  const others = word.filter((sign) => scriptOf(sign) > 0);
  return others.length > 0 && (scripts.size > 1 || others.every((sign) => LOOKALIKES.has(sign)));
};

/** Whether a backslash here would read as a spelling of ours. */
const readsAsSpelling = (signs: string[], at: number): boolean => {
  const [first, second] = [signs[at + 1], signs[at + 2]];
  return (first === "x" && second !== undefined && /^[0-9a-fA-F]$/u.test(second)) || (first === "u" && second === "{");
};

/** The text in pieces, as it is shown. */
export const shown = (text: string): Piece[] => {
  const signs = Array.from(text);
  const pieces: Piece[] = [];
  let at = 0;
  const put = (kind: Kind, shows: string, bytes: number) => {
    const last = pieces[pieces.length - 1];
    if (last && last.kind === kind && (kind === "plain" || kind === "foreign")) {
      last.text += shows;
      last.to += bytes;
    } else {
      pieces.push({ kind, text: shows, from: at, to: at + bytes });
    }
    at += bytes;
  };
  // Words of ASCII alone pass for nothing.
  const isAscii = /^[\0-\x7f]*$/u.test(text);
  let passes = false;
  let wordEnd = 0;
  for (let index = 0; index < signs.length; index += 1) {
    const sign = signs[index] as string;
    const code = sign.codePointAt(0) as number;
    if (!isAscii && index >= wordEnd) {
      let end = index;
      while (end < signs.length && /[\p{L}\p{N}]/u.test(signs[end] as string)) end += 1;
      passes = end > index && passing(signs.slice(index, end));
      wordEnd = Math.max(end, index + 1);
    }
    if (sign === "\n") put("break", `${BREAK}\n`, 1);
    else if (sign === "\t") put("tab", `${TAB}\t`, 1);
    else if (sign === " ") {
      let end = index;
      while (signs[end] === " ") end += 1;
      const count = end - index;
      const isLast = end === signs.length || signs[end] === "\n";
      if (count > MOST_BLANKS) put("blank", `${MANY}${count} blanks${MANY}`, count);
      else if (isLast) {
        if (count > 1) put("blanks", sign.repeat(count - 1), count - 1);
        put("blank", BLANK, 1);
      } else put(count > 1 ? "blanks" : "plain", sign.repeat(count), count);
      index = end - 1;
    } else if (code >= 0x20 && code < 0x7f && !(sign === "\\" && readsAsSpelling(signs, index))) put("plain", sign, 1);
    else if (code < 0xa0 || isUnsure(sign, code) || (passes && scriptOf(sign) > 0)) {
      put("escape", spelled(code), width(code));
    } else put("foreign", sign, width(code));
  }
  return pieces;
};

/** Cuts one piece at these bytes, if it can be cut. */
const cutOne = (piece: Piece, edges: number[]): Piece[] => {
  const inside = edges.filter((edge) => edge > piece.from && edge < piece.to);
  if (inside.length === 0 || (piece.kind !== "plain" && piece.kind !== "foreign")) return [piece];
  const bytes = new TextEncoder().encode(piece.text);
  const ends = [...inside, piece.to];
  let from = piece.from;
  return ends.map((to) => {
    const text = new TextDecoder().decode(bytes.slice(from - piece.from, to - piece.from));
    const part = { ...piece, text, from, to };
    from = to;
    return part;
  });
};

/** The pieces, none of which goes across one of these bytes. */
export const cut = (pieces: Piece[], edges: number[]): Piece[] => pieces.flatMap((piece) => cutOne(piece, edges));

/** The pieces on one line. */
export const inLine = (pieces: Piece[]): string =>
  pieces.map((piece) => (piece.kind === "break" || piece.kind === "tab" ? piece.text.slice(0, 1) : piece.text)).join("");

/** The text on one line. */
export const line = (text: string): string => inLine(shown(text));

/** Whether something in it had to be spelled out. */
export const hides = (text: string): boolean => shown(text).some((piece) => piece.kind === "escape");

/** Whether a word of it mixes scripts or passes for another. */
export const misleads = (text: string): boolean =>
  !/^[\0-\x7f]*$/u.test(text) &&
  text.split(/[^\p{L}\p{N}]+/u).some((word) => passing(Array.from(word)));
