// What components share: the feed, the route, the time, and what is being loaded.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { Failure } from "./api";
import type { Feed, Inbox } from "./feed";

/** The inbox, live. What comes within one frame is drawn together; a page that nobody sees has no frames. */
export const useInbox = (feed: Feed): Inbox => {
  const [inbox, setInbox] = useState(feed.inbox);
  useEffect(() => {
    let frame: number | undefined;
    const draw = () => {
      if (frame !== undefined) cancelAnimationFrame(frame);
      frame = undefined;
      setInbox(feed.inbox);
    };
    const end = feed.listen(() => {
      if (document.hidden) draw();
      else frame ??= requestAnimationFrame(draw);
    });
    draw();
    return () => {
      end();
      if (frame !== undefined) cancelAnimationFrame(frame);
    };
  }, [feed]);
  return inbox;
};

/** The page the address names: `#/history` is `history`. */
export const pageOf = (hash: string): string => (hash.startsWith("#/") ? (hash.slice(2).split("/")[0] ?? "") : "") || "inbox";

export const usePage = (): string => {
  const [page, setPage] = useState(pageOf(location.hash));
  useEffect(() => {
    const look = () => setPage(pageOf(location.hash));
    addEventListener("hashchange", look);
    return () => removeEventListener("hashchange", look);
  }, []);
  return page;
};

const ticking = new Set<(now: number) => void>();
let clock: ReturnType<typeof setInterval> | undefined;

/** The time, once a second; all who look share one clock. */
export const useNow = (): number => {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    ticking.add(setNow);
    clock ??= setInterval(() => {
      for (const tick of ticking) tick(Date.now());
    }, 1000);
    return () => {
      ticking.delete(setNow);
      if (ticking.size === 0) {
        clearInterval(clock);
        clock = undefined;
      }
    };
  }, []);
  return now;
};

/** Something that comes from the daemon. */
export interface Loaded<T> {
  value: T | undefined;
  failure: string | undefined;
  isLoading: boolean;
  again: () => void;
}

/** Loads, and loads again when `on` changes; what is shown stays until the new one is there. */
export const useLoad = <T>(load: () => Promise<T>, on: unknown[]): Loaded<T> => {
  const [state, setState] = useState<Omit<Loaded<T>, "again">>({ value: undefined, failure: undefined, isLoading: true });
  const turn = useRef(0);
  const again = useCallback(() => {
    turn.current += 1;
    const mine = turn.current;
    setState((before) => ({ ...before, isLoading: true }));
    load().then(
      (value) => mine === turn.current && setState({ value, failure: undefined, isLoading: false }),
      (error: unknown) => mine === turn.current && setState((before) => ({ ...before, failure: said(error), isLoading: false })),
    );
  }, on);
  useEffect(() => {
    again();
    return () => {
      turn.current += 1;
    };
  }, [again]);
  return { ...state, again };
};

/** A value that waits until nobody has changed it for a while. */
export const useCalm = <T>(value: T, ms: number): T => {
  const [calm, setCalm] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setCalm(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return calm;
};

/** Counts what changed on the daemon, not faster than pages can be loaded again. */
export const useChanges = (feed: Feed): number => useCalm(useInbox(feed).changes, 400);

/** What went wrong, in one sentence. */
export const said = (error: unknown): string => (error instanceof Failure || error instanceof Error ? error.message : "something went wrong");

/** Whether the window is as narrow as a phone. */
export const useNarrow = (): boolean => {
  const [isNarrow, setNarrow] = useState(() => matchMedia("(max-width: 860px)").matches);
  useEffect(() => {
    const media = matchMedia("(max-width: 860px)");
    const look = () => setNarrow(media.matches);
    media.addEventListener("change", look);
    return () => media.removeEventListener("change", look);
  }, []);
  return isNarrow;
};
