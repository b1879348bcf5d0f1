// What a file edit would change, line by line.

import { useState } from "preact/hooks";
import { line, shown } from "./show";
import type { Json } from "./wire";
import { count, size } from "./words";

export interface Row {
  sign: " " | "+" | "-" | "@";
  text: string;
}

/** Beyond so many pairs of lines the middle is not compared any more. */
const MOST_PAIRS = 250_000;

/** The lines of two texts, those they share once. */
export const diff = (before: string, after: string): Row[] => {
  const [a, b] = [before === "" ? [] : before.split("\n"), after === "" ? [] : after.split("\n")];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const [x, y] = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)];
  const rows: Row[] = a.slice(0, head).map((text) => ({ sign: " ", text }));
  if (x.length * y.length > MOST_PAIRS) {
    rows.push(...x.map((text): Row => ({ sign: "-", text })), ...y.map((text): Row => ({ sign: "+", text })));
  } else {
    rows.push(...middle(x, y));
  }
  rows.push(...a.slice(a.length - tail).map((text): Row => ({ sign: " ", text })));
  return rows;
};

/** The longest common lines of two lists, by a table. */
const middle = (x: string[], y: string[]): Row[] => {
  const wide = y.length + 1;
  const table = new Uint32Array((x.length + 1) * wide);
  const at = (i: number, j: number): number => table[i * wide + j] ?? 0;
  for (let i = x.length - 1; i >= 0; i -= 1) {
    for (let j = y.length - 1; j >= 0; j -= 1) {
      table[i * wide + j] = x[i] === y[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const rows: Row[] = [];
  let [i, j] = [0, 0];
  while (i < x.length || j < y.length) {
    if (i < x.length && j < y.length && x[i] === y[j]) {
      rows.push({ sign: " ", text: x[i] ?? "" });
      i += 1;
      j += 1;
    } else if (i < x.length && (j >= y.length || at(i + 1, j) >= at(i, j + 1))) {
      rows.push({ sign: "-", text: x[i] ?? "" });
      i += 1;
    } else {
      rows.push({ sign: "+", text: y[j] ?? "" });
      j += 1;
    }
  }
  return rows;
};

/** The fields of an input that a difference shows. */
export const SHOWN = ["file_path", "path", "filename", "notebook_path", "old_string", "old_str", "old_text", "new_string", "new_str", "new_text", "edits", "patch", "diff", "content", "contents", "new_source", "file_text"];

/** What a call would change in a file; none where it is no edit. */
export const edits = (input: Json): { path: string; rows: Row[] }[] => {
  if (input === null || typeof input !== "object" || Array.isArray(input)) return [];
  const text = (...names: string[]): string | undefined => {
    const name = names.find((one) => typeof input[one] === "string");
    return name === undefined ? undefined : (input[name] as string);
  };
  const path = text("file_path", "path", "filename", "notebook_path") ?? "";
  const [before, after] = [text("old_string", "old_str", "old_text"), text("new_string", "new_str", "new_text")];
  if (before !== undefined && after !== undefined) return [{ path, rows: diff(before, after) }];
  if (Array.isArray(input.edits)) {
    return input.edits.flatMap((one) => (one !== null && typeof one === "object" && !Array.isArray(one) ? edits({ path, ...one }) : []));
  }
  const patch = text("patch", "diff");
  if (patch !== undefined) {
    const sign = (line: string): Row["sign"] => (/^(?:\*\*\*|---|\+\+\+|@@)/u.test(line) ? "@" : line.startsWith("+") ? "+" : line.startsWith("-") ? "-" : " ");
    return [{ path, rows: patch.split("\n").map((line) => ({ sign: sign(line), text: line })) }];
  }
  const content = text("content", "contents", "new_source", "file_text");
  if (content !== undefined && path !== "") return [{ path, rows: content.split("\n").map((line) => ({ sign: "+", text: line })) }];
  return [];
};

const MOST_ROWS = 60;

/** A changed file. */
export const Diff = ({ path, rows }: { path: string; rows: Row[] }) => {
  const [isWhole, setWhole] = useState(false);
  const some = isWhole ? rows : rows.slice(0, MOST_ROWS);
  const tally = (sign: string) => rows.filter((row) => row.sign === sign).length;
  return (
    <figure class="diff" aria-label={`changes of ${line(path) || "a file"}`}>
      <pre dir="ltr" tabIndex={0} aria-label="changes">
        {some.map((row, index) => (
          <div class={`row sign-${row.sign === "+" ? "in" : row.sign === "-" ? "out" : row.sign === "@" ? "head" : "same"}`} key={index}>
            <span class="mark">{row.sign === "@" ? " " : row.sign}</span>
            <code>
              {shown(row.text).map((piece) => (
                <span class={`piece ${piece.kind}`}>{piece.text}</span>
              ))}
            </code>
          </div>
        ))}
        {some.length < rows.length && (
          <button type="button" class="fold" onClick={() => setWhole(true)}>
            … {count(rows.length - some.length, "line")} more: show all
          </button>
        )}
      </pre>
      <figcaption>
        {size(new TextEncoder().encode(rows.map((row) => row.text).join("\n")).length)} · {count(tally("+"), "line")} in · {count(tally("-"), "line")} out
      </figcaption>
    </figure>
  );
};
