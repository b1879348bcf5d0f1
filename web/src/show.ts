// Showing text of calls: two different texts never look the same.
//
// Whatever could hide, reorder, move or pass for something else is spelled out in the marks ‹ ›, in
// the words of the terminal (`\x1b`, `\u{202e}`); the marks themselves are spelled out too. So the
// shown text leads back to the text, whatever it was: `tests/show.test.ts` reads it back.

/** What a piece of shown text is. */
export type Kind = "plain" | "escape" | "foreign" | "blank" | "break" | "tab";

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
const MOST_BLANKS = 8;

const OPEN = "\u2039";
const CLOSE = "\u203a";
const BREAK = "\u23ce";
const TAB = "\u21e5";

/** Signs that are ours: where a text has them, they are spelled out. */
const OURS = new Set([OPEN, CLOSE, BREAK, TAB].map((sign) => sign.codePointAt(0)));

/** Marks of writing that people use every day; they are shown, and marked as not plain. */
const EVERYDAY = new Set([0x2013, 0x2014, 0x2018, 0x2019, 0x201c, 0x201d, 0x3001, 0x3002, 0x30fc]);

/** Nothing of these kinds shows by itself what it is: controls, blanks, marks that join, signs. */
const UNSURE = /[\p{C}\p{Z}\p{M}\p{P}\p{Sm}\p{Sk}\p{Lm}\p{Default_Ignorable_Code_Point}\p{Regional_Indicator}\u115f\u1160\u2800\u3164\uffa0\ufffc\ufffd]/u;

/** Parts of Korean letters join into others. */
const isJamo = (code: number): boolean =>
  (code >= 0x1100 && code <= 0x11ff) || (code >= 0xa960 && code <= 0xa97f) || (code >= 0xd7b0 && code <= 0xd7ff);

/** Letters of other scripts that look like those of ASCII. */
const LOOKALIKES = new Set(
  "\u0131\u0251\u0261\u01c0\u01c1\u01c2\u01c3\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03b1\u03b3\u03b9\u03ba\u03bd\u03bf\u03c1\u03c3\u03c5\u03c7\u03f2\u0405\u0406\u0408\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0430\u0433\u0435\u043a\u043e\u043f\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u0475\u04bb\u04cf\u0501\u051b\u051d\u0555\u0561\u0570\u0578\u057d\u0585\u13a0\u13a1\u13a2\u13aa\u13ab\u13b3\u13bb\u13c0\u13c2\u13c3\u13cf\u13d2\u13d9\u13da\u13de\u13df\u13e2\u13e6\u13f3",
);

const isLetter = (text: string): boolean => /\p{L}/u.test(text);
const isLatin = (text: string): boolean => /\p{Script=Latin}/u.test(text);

/** How many bytes a code point takes in UTF-8; half a pair counts as what stands in for it. */
const width = (code: number): number => (code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);

/** A code point in the words of the terminal. */
const spelled = (code: number): string => {
  if (code === 0x0d) return "\\r";
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, "0")}`;
  return `\\u{${code.toString(16)}}`;
};

/** Whether a character beyond ASCII is spelled out wherever it stands. */
const isUnsure = (sign: string, code: number): boolean => {
  if (OURS.has(code)) return true;
  if (EVERYDAY.has(code)) return false;
  return UNSURE.test(sign) || isJamo(code) || sign.normalize("NFKC") !== sign;
};

/** Which letters of a word are spelled out: those that pass for others. */
const passing = (word: string[]): boolean => {
  const others = word.filter((sign) => sign > "\x7f" && isLetter(sign));
  if (others.length === 0) return false;
  const isMixed = word.some((sign) => isLetter(sign) && isLatin(sign)) && others.some((sign) => !isLatin(sign));
  return isMixed || others.every((sign) => LOOKALIKES.has(sign));
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
  let passes = false;
  let wordEnd = 0;
  for (let index = 0; index < signs.length; index += 1) {
    const sign = signs[index] as string;
    const code = sign.codePointAt(0) as number;
    if (index >= wordEnd) {
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
      const isLast = end === signs.length || signs[end] === "\n" || signs[end] === "\r";
      if (count > MOST_BLANKS || isLast) {
        put("blank", `${OPEN}${count} ${count === 1 ? "blank" : "blanks"}${CLOSE}`, count);
      } else {
        put("plain", sign.repeat(count), count);
      }
      index = end - 1;
    } else if (code >= 0x20 && code < 0x7f) put("plain", sign, 1);
    else if (code < 0xa0 || isUnsure(sign, code) || (passes && isLetter(sign) && (!isLatin(sign) || LOOKALIKES.has(sign)))) {
      put("escape", `${OPEN}${spelled(code)}${CLOSE}`, width(code));
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
  text.split(/[^\p{L}\p{N}]+/u).some((word) => passing(Array.from(word)));
