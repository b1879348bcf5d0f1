// The inbox: what waits for an answer, the riskiest and newest first.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import * as api from "../api";
import { Card } from "../card";
import { Ago, Empty, Fault, Loading, Said, TierSign } from "../chips";
import { type Feed, tally } from "../feed";
import { FIELDS, isAstray, isTooSoon } from "../hands";
import { said, useInbox, useNarrow } from "../hooks";
import { WindowedList } from "../list";
import { line } from "../show";
import type { Ask } from "../wire";
import { count, headline, rank, sort, title } from "../words";

/** The riskiest first, of those the newest. */
export const inOrder = (asks: Iterable<Ask>): Ask[] =>
  [...asks].sort((a, b) => rank(b.verdict.tier) - rank(a.verdict.tier) || later(a.opened_at, b.opened_at) || later(a.id, b.id));

/** The later of two texts first; theirs is the order of their signs. */
const later = (a: string, b: string): number => (a < b ? 1 : a > b ? -1 : 0);

const ROW = 68;

interface RowProps {
  ask: Ask;
  isSelected: boolean;
  isMarked: boolean;
  movedAt: () => number;
  onSelect: () => void;
  onMark: () => void;
}

const Row = ({ ask, isSelected, isMarked, movedAt, onSelect, onMark }: RowProps) => (
  <div class={`ask-row ${ask.verdict.tier} ${isSelected ? "selected" : ""}`}>
    <input
      type="checkbox"
      checked={isMarked}
      onClick={(event) => isTooSoon(movedAt()) && event.preventDefault()}
      onChange={onMark}
      aria-label={`mark ${headline(ask)}, by ${line(ask.agent)}`}
    />
    <button type="button" aria-current={isSelected ? "true" : undefined} onClick={onSelect}>
      <span class="row-title">
        <code>{headline(ask)}</code>
      </span>
      <span class="row-meta">
        <TierSign tier={ask.verdict.tier} />
        <Said text={ask.agent} />
        <span class="faint">
          <Ago at={ask.opened_at} />
        </span>
      </span>
    </button>
  </div>
);

interface ManyProps {
  asks: Ask[];
  marked: Set<string>;
  setMarked: (marked: Set<string>) => void;
  onSettled: (ask: Ask) => void;
  takesKeys: boolean;
}

/** Answering many of the same sort at once. It stands below the list, so that no row moves for it. */
const Many = ({ asks, marked, setMarked, onSettled, takesKeys }: ManyProps) => {
  const changedAt = useRef(0);
  useLayoutEffect(() => {
    changedAt.current = performance.now();
  }, [marked]);
  const [failure, setFailure] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const chosen = asks.filter((ask) => marked.has(ask.id));
  const sorts = new Set(chosen.map(sort));
  const [first] = chosen;
  const alike = first && sorts.size === 1 ? asks.filter((ask) => sort(ask) === sort(first)) : [];
  const isDestructive = chosen.some((ask) => ask.verdict.tier === "destructive");
  const mayApprove = sorts.size === 1 && !isDestructive;
  const answer = async (reply: "approve" | "reject") => {
    if (isTooSoon(changedAt.current)) return;
    setBusy(true);
    setFailure(undefined);
    try {
      const { results } = await api.decideMany(chosen.map((ask) => ({ ask: ask.id, answer: reply })));
      const failed = results.filter((result) => result.error);
      for (const result of results) {
        const ask = chosen.find((one) => one.id === result.ask);
        if (ask && result.decision) onSettled({ ...ask, state: result.decision.outcome === "deny" ? "rejected" : "approved", decision: result.decision });
      }
      setMarked(new Set());
      if (failed.length > 0) setFailure(`${count(failed.length, "answer")} did not count: ${failed[0]?.error?.message ?? ""}`);
    } catch (error) {
      setFailure(said(error));
    } finally {
      setBusy(false);
    }
  };
  useLayoutEffect(() => {
    if (!takesKeys || chosen.length === 0 || isBusy) return;
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isAstray(event)) return;
      if ((event.target as HTMLElement).closest(`${FIELDS}, [role=dialog]`)) return;
      if (event.key === "r") void answer("reject");
      else if (event.key === "a" && mayApprove) void answer("approve");
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
  if (chosen.length === 0) return failure ? <Fault message={failure} /> : null;
  return (
    <div class="many" role="region" aria-label="many at once">
      <p>
        <b>{chosen.length}</b> marked
        {alike.length > chosen.length && (
          <button type="button" class="quiet" onClick={() => setMarked(new Set(alike.map((ask) => ask.id)))}>
            mark all {alike.length} of this kind
          </button>
        )}
        <button type="button" class="quiet none" onClick={() => setMarked(new Set())}>
          none
        </button>
      </p>
      {failure && <Fault message={failure} />}
      <div class="actions">
        <button type="button" class="reject" disabled={isBusy} onClick={() => void answer("reject")}>
          Reject {chosen.length} <kbd>r</kbd>
        </button>
        <button type="button" class="approve" disabled={isBusy || !mayApprove} onClick={() => void answer("approve")}>
          Approve {chosen.length} once <kbd>a</kbd>
        </button>
      </div>
      {isDestructive ? (
        <p class="faint">What could destroy something is approved one by one.</p>
      ) : (
        sorts.size > 1 && <p class="faint">Only calls of the same kind are approved together.</p>
      )}
    </div>
  );
};

export const InboxPage = ({ feed, hasDialog }: { feed: Feed; hasDialog: boolean }) => {
  const inbox = useInbox(feed);
  const isNarrow = useNarrow();
  const [selected, setSelected] = useState<string>();
  const [marked, setMarked] = useState<Set<string>>(new Set());
  const [filter, setFilter] = useState("");
  const kept = useRef<Ask | undefined>(undefined);
  const asks = useMemo(() => {
    const wanted = filter.trim().toLowerCase();
    const all = inOrder(inbox.asks.values());
    return wanted ? all.filter((ask) => `${headline(ask)} ${title(ask.call)} ${ask.agent} ${ask.call.tool} ${ask.verdict.tier}`.toLowerCase().includes(wanted)) : all;
  }, [inbox.asks, filter]);

  // What was open stays open when it is settled, with who and how, until one goes on.
  const live = selected === undefined ? undefined : inbox.asks.get(selected);
  if (live) kept.current = live;
  const over = selected === undefined ? undefined : inbox.settled.find((ask) => ask.id === selected);
  const open = live ?? over ?? (kept.current?.id === selected ? kept.current : undefined);

  useEffect(() => {
    if (!isNarrow && selected === undefined && asks[0]) setSelected(asks[0].id);
  }, [isNarrow, selected, asks]);
  useEffect(() => {
    setMarked((before) => {
      const still = new Set([...before].filter((id) => inbox.asks.has(id)));
      return still.size === before.size ? before : still;
    });
  }, [inbox.asks]);

  const move = (by: number) => {
    const at = asks.findIndex((ask) => ask.id === selected);
    const next = asks[at < 0 ? 0 : Math.min(asks.length - 1, Math.max(0, at + by))];
    if (next) setSelected(next.id);
  };
  // What is drawn and what keys mean change together.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (hasDialog || event.ctrlKey || event.metaKey || event.altKey || isAstray(event)) return;
      if ((event.target as HTMLElement).closest(FIELDS)) return;
      if (event.key === "j") move(1);
      else if (event.key === "k") move(-1);
      else if (event.key === "x" && selected && inbox.asks.has(selected)) {
        const changed = new Set(marked);
        if (!changed.delete(selected)) changed.add(selected);
        setMarked(changed);
      } else if (event.key === "/") {
        event.preventDefault();
        document.querySelector<HTMLInputElement>(".inbox-filter")?.focus();
      }
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });

  if (inbox.link === "connecting" && inbox.asks.size === 0) {
    return (
      <div class="page">
        <h1>Inbox</h1>
        <Loading />
      </div>
    );
  }
  const settled = (ask: Ask) => {
    feed.drop(ask);
    // The next one comes up by itself only where a list stands beside it.
    if (ask.id === selected && isNarrow) setSelected(undefined);
  };
  const isListShown = !isNarrow || open === undefined;
  return (
    <div class={`inbox ${open ? "has-card" : ""}`}>
      {isListShown && (
        <section class="inbox-list" aria-label="pending asks">
          <div class="inbox-head">
            <h1>
              Inbox <span class="tally">{tally(inbox)}</span>
            </h1>
            {inbox.asks.size > 0 && <input class="inbox-filter" type="search" placeholder="filter" aria-label="filter the inbox" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />}
          </div>
          {asks.length === 0 ? (
            inbox.asks.size > 0 ? (
              <Empty title="No ask fits this filter" />
            ) : (
              <Empty title="Nothing waits for you">
                <p>Agents work on; what needs you appears here by itself.</p>
                <p class="faint keys">
                  Press <kbd>?</kbd> for the keys.
                </p>
              </Empty>
            )
          ) : (
            <WindowedList
              items={asks}
              row={ROW}
              keyOf={(ask) => ask.id}
              selected={selected}
              label="pending asks"
              draw={(ask, movedAt) => (
                <Row
                  ask={ask}
                  movedAt={movedAt}
                  isSelected={ask.id === selected}
                  isMarked={marked.has(ask.id)}
                  onSelect={() => setSelected(ask.id)}
                  onMark={() => {
                    const changed = new Set(marked);
                    if (!changed.delete(ask.id)) changed.add(ask.id);
                    setMarked(changed);
                  }}
                />
              )}
            />
          )}
          <Many asks={asks} marked={marked} setMarked={setMarked} onSettled={settled} takesKeys={!hasDialog} />
        </section>
      )}
      {open ? (
        <section class="inbox-card" aria-label="the ask">
          {isNarrow && (
            <button type="button" class="quiet back" onClick={() => setSelected(undefined)}>
              ‹ all asks
            </button>
          )}
          <Card ask={open} onSettled={settled} takesKeys={!hasDialog && marked.size === 0} />
          {!live && asks.length > 0 && !isNarrow && (
            <button type="button" class="next" onClick={() => setSelected(asks[0]?.id)}>
              Next: {count(asks.length, "ask")} waiting <kbd>j</kbd>
            </button>
          )}
        </section>
      ) : (
        !isNarrow &&
        asks.length > 0 && (
          <section class="inbox-card">
            <Empty title="Choose an ask" />
          </section>
        )
      )}
    </div>
  );
};
