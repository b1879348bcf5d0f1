// The inbox as it is now: the feed keeps it live, and takes it up again where it broke off.
//
// After every connection the pending asks are read whole, so that nothing rests on the feed alone:
// the row is the truth, an event only says that something changed. The first time, what would stand
// first is read and shown before the rest: the riskiest and newest, so that no row moves for what
// comes after them.

import * as api from "./api";
import { type Source, Stream } from "./stream";
import type { Ask, FeedEvent } from "./wire";

/** How the inbox stands with the daemon. */
export type Link = "connecting" | "live" | "offline" | "signed-out";

/** What the pages see. */
export interface Inbox {
  link: Link;
  /** Pending asks by id. */
  asks: ReadonlyMap<string, Ask>;
  /** Whether those are all there are; at first it is only the beginning. */
  isWhole: boolean;
  /** Asks that were settled while this page looked, the newest first. */
  settled: readonly Ask[];
  /** Counts what changed: asks, grants, policy, runs. */
  changes: number;
}

/** So many settled asks are remembered here. */
const MOST_SETTLED = 20;

/** So many asks are shown before the rest is read. */
export const BEGINNING = 60;

/** How many wait, as it is shown: `60+` until all were read. */
export const tally = (inbox: Inbox): string => `${inbox.asks.size}${inbox.isWhole ? "" : "+"}`;

const EVENTS = ["ask.opened", "ask.settled", "grant.made", "grant.revoked", "policy.changed", "run.started", "run.ended", "gap.found", "resync"];

/** What opens a stream; tests give another. */
export type Open = (path: string) => Source;

/** A live inbox that tells its listeners when it changed. */
export class Feed {
  #inbox: Inbox = { link: "connecting", asks: new Map(), isWhole: false, settled: [], changes: 0 };
  #listeners = new Set<(inbox: Inbox, opened: Ask | undefined) => void>();
  #source: Source | undefined;
  #cursor: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #wait = 0;
  #held: FeedEvent[] | undefined;
  readonly #open: Open;

  constructor(open: Open = (path) => new Stream(path)) {
    this.#open = open;
  }

  get inbox(): Inbox {
    return this.#inbox;
  }

  /** Hears of every change; gives what ends it. */
  listen(listener: (inbox: Inbox, opened: Ask | undefined) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Connects, and stays connected. */
  start(): void {
    this.stop();
    this.#set({ link: this.#cursor === undefined ? "connecting" : this.#inbox.link });
    const source = this.#open(this.#cursor === undefined ? "/v1/events?pending=0" : `/v1/events?after=${this.#cursor}`);
    this.#source = source;
    // Until the inbox was read whole, events wait.
    this.#held = [];
    source.onopen = () => void this.#reload(source);
    source.onerror = () => {
      if (this.#source === source) this.#lost();
    };
    for (const type of EVENTS) {
      source.addEventListener(type, (event) => {
        if (this.#source !== source) return;
        const shape = JSON.parse((event as MessageEvent<string>).data) as FeedEvent;
        this.#cursor = shape.cursor;
        if (this.#held) this.#held.push(shape);
        else this.#take(shape, source);
      });
    }
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = undefined;
    this.#held = undefined;
  }

  /** An answer of this page took effect; the feed will say so too. */
  drop(ask: Ask): void {
    this.#remove(ask);
  }

  async #reload(source: Source): Promise<void> {
    try {
      let isWhole = false;
      let asks: Ask[] = [];
      if (this.#inbox.asks.size === 0) {
        asks = await api.riskiest(BEGINNING);
        isWhole = asks.length < BEGINNING;
      }
      if (!isWhole) {
        if (this.#source !== source) return;
        if (asks.length > 0) this.#set({ link: "live", asks: this.#unsettled(asks), isWhole });
        asks = await api.pending();
      }
      if (this.#source !== source) return;
      this.#wait = 0;
      const held = this.#held ?? [];
      this.#held = undefined;
      this.#set({ link: "live", asks: this.#unsettled(asks), isWhole: true });
      for (const event of held) this.#take(event, source, true);
    } catch (error) {
      if (this.#source !== source) return;
      if (error instanceof api.Failure && error.status === 401) this.#signedOut();
      else this.#lost();
    }
  }

  /** By their ids; what was answered here while they were being read is pending no more. */
  #unsettled(asks: Ask[]): Map<string, Ask> {
    const over = new Set(this.#inbox.settled.map((ask) => ask.id));
    return new Map(asks.filter((ask) => !over.has(ask.id)).map((ask) => [ask.id, ask]));
  }

  #take(event: FeedEvent, source: Source, wasHeld = false): void {
    const { ask } = event;
    if (event.type === "resync") {
      this.#held = [];
      void this.#reload(source);
    } else if (event.type === "ask.opened" && ask && ask.state === "pending") {
      if (this.#inbox.asks.has(ask.id) || this.#inbox.settled.some((known) => known.id === ask.id)) return;
      const asks = new Map(this.#inbox.asks).set(ask.id, ask);
      this.#set({ asks, changes: this.#inbox.changes + 1 }, wasHeld ? undefined : ask);
    } else if (event.type === "ask.settled" && ask) this.#remove(ask);
    else this.#set({ changes: this.#inbox.changes + 1 });
  }

  #remove(ask: Ask): void {
    const asks = new Map(this.#inbox.asks);
    asks.delete(ask.id);
    const others = this.#inbox.settled.filter((known) => known.id !== ask.id);
    this.#set({ asks, settled: [ask, ...others].slice(0, MOST_SETTLED), changes: this.#inbox.changes + 1 });
  }

  #lost(): void {
    this.stop();
    this.#set({ link: "offline" });
    this.#wait = Math.min(5000, Math.max(250, this.#wait * 2));
    this.#timer = setTimeout(() => void this.#again(), this.#wait);
  }

  /** A stream does not say why it failed; a request does. */
  async #again(): Promise<void> {
    try {
      await api.whoami();
      this.start();
    } catch (error) {
      if (error instanceof api.Failure && error.status === 401) this.#signedOut();
      else this.#lost();
    }
  }

  #signedOut(): void {
    this.stop();
    this.#set({ link: "signed-out", asks: new Map() });
  }

  #set(changed: Partial<Inbox>, opened?: Ask): void {
    this.#inbox = { ...this.#inbox, ...changed };
    for (const listener of this.#listeners) listener(this.#inbox, opened);
  }
}
