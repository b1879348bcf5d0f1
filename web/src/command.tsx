// A command as a person must see it: every byte accounted for, coloured by what its acts do.

import { useMemo, useState } from "preact/hooks";
import { type Piece, cut, misleads, shown } from "./show";
import type { Act, Tier, Verdict } from "./wire";
import { count, rank, size } from "./words";

/** A text longer than this is folded at first: lines, and bytes. */
const MOST_LINES = 24;
const MOST_BYTES = 4000;

/** How many lines are shown of each end of what is folded. */
const HEAD = 12;
const TAIL = 4;

interface Run {
  piece: Piece;
  tier: Tier | undefined;
  isDeciding: boolean;
}

/** The lines of a text, each run of it with the act it belongs to. */
export const lines = (text: string, verdict: Verdict | undefined): Run[][] => {
  const acts = verdict?.acts ?? [];
  const reason = verdict?.reasons.find((one) => one.span)?.span;
  const edges = [...new Set([...acts.flatMap((act) => act.span), ...(reason ?? [])])].sort((a, b) => a - b);
  // The narrowest act around a byte speaks for it.
  const narrowest = [...acts].sort((a, b) => a.span[1] - a.span[0] - (b.span[1] - b.span[0]));
  const at = (piece: Piece): Run => {
    const act = narrowest.find((one) => one.span[0] <= piece.from && piece.to <= one.span[1]);
    const isDeciding = reason !== undefined && reason[0] <= piece.from && piece.to <= reason[1];
    return { piece, tier: act?.tier, isDeciding };
  };
  const all: Run[][] = [[]];
  for (const piece of cut(shown(text), edges)) {
    all[all.length - 1]?.push(at(piece));
    if (piece.kind === "break") all.push([]);
  }
  return all;
};

const Line = ({ runs, number, isNumbered }: { runs: Run[]; number: number; isNumbered: boolean }) => (
  <div class="line">
    {isNumbered && (
      <span class="number" aria-hidden="true">
        {number}
      </span>
    )}
    <code>
      {runs.map(({ piece, tier, isDeciding }) => {
        const names = ["piece", piece.kind, tier ? `act-${tier}` : "", isDeciding ? "deciding" : ""].filter(Boolean).join(" ");
        const text = piece.kind === "break" ? piece.text.slice(0, 1) : piece.text;
        return <span class={names}>{text}</span>;
      })}
    </code>
  </div>
);

/** The part of a text that an act is, with what stands around it on its lines left out. */
export const excerpt = (text: string, [from, to]: [number, number]): string => {
  const bytes = new TextEncoder().encode(text);
  return new TextDecoder().decode(bytes.slice(from, Math.min(to, from + 2000)));
};

/** The act that is worst, if one is worse than review. */
export const worstOf = (verdict: Verdict): Act | undefined =>
  [...verdict.acts].sort((a, b) => rank(b.tier) - rank(a.tier) || Number(a.read_only) - Number(b.read_only))[0];

/** A command, or another text of a call. */
export const Command = ({ text, verdict, label = "command" }: { text: string; verdict?: Verdict | undefined; label?: string }) => {
  const [isWhole, setWhole] = useState(false);
  const all = useMemo(() => lines(text, verdict), [text, verdict]);
  const bytes = useMemo(() => new TextEncoder().encode(text).length, [text]);
  const isMisleading = useMemo(() => misleads(text), [text]);
  const isLong = all.length > MOST_LINES || bytes > MOST_BYTES;
  const worst = verdict && isLong ? worstOf(verdict) : undefined;
  const hidden = all.length - HEAD - TAIL;
  const isFolded = isLong && !isWhole;
  // A few lines that are very long are folded by their bytes.
  const isWide = isFolded && hidden <= 0;
  const spells = all.some((runs) => runs.some((run) => run.piece.kind === "escape"));
  return (
    <figure class="command" aria-label={label}>
      {worst && worst.tier !== "safe" && (
        <div class={`first-act ${worst.tier}`}>
          <span class="first-label">the {worst.tier} part</span>
          <pre dir="ltr">
            {lines(excerpt(text, worst.span), undefined).map((runs, index) => (
              <Line key={index} runs={runs} number={index + 1} isNumbered={false} />
            ))}
          </pre>
        </div>
      )}
      {/* A region that scrolls can be reached by keys. */}
      <pre dir="ltr" class={isWide ? "text wide" : "text"} tabIndex={0} aria-label={label}>
        {all.map((runs, index) => {
          if (isFolded && !isWide && index >= HEAD && index < all.length - TAIL) {
            return index === HEAD ? (
              <button type="button" class="fold" key="fold" onClick={() => setWhole(true)}>
                … {count(hidden, "line")} more: show all
              </button>
            ) : null;
          }
          return <Line key={index} runs={runs} number={index + 1} isNumbered={all.length > 1} />;
        })}
      </pre>
      <figcaption>
        {size(bytes)} · {count(all.length, "line")}
        {spells && <strong class="warning"> · hidden or misleading characters are spelled out <span class="piece escape">like this</span></strong>}
        {isMisleading && <strong class="warning"> · a word mixes scripts or passes for another</strong>}
        {isLong && (
          <button type="button" class="quiet" onClick={() => setWhole(!isWhole)}>
            {isWhole ? "fold" : "show all of it"}
          </button>
        )}
      </figcaption>
    </figure>
  );
};
