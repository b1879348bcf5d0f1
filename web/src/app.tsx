// The frame: where one is, how the daemon is reached, what was settled elsewhere, and the keys.

import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import * as api from "./api";
import { Empty } from "./chips";
import { type Feed, type Link, tally } from "./feed";
import * as hands from "./hands";
import { said, useInbox, usePage } from "./hooks";
import * as notify from "./notify";
import { AgentsPage } from "./pages/agents";
import { AuditPage } from "./pages/audit";
import { GrantsPage } from "./pages/grants";
import { HistoryPage } from "./pages/history";
import { InboxPage, inOrder } from "./pages/inbox";
import { NumbersPage } from "./pages/numbers";
import { PolicyPage } from "./pages/policy";
import type { Ask } from "./wire";
import { ending, title } from "./words";

export interface PageProps {
  feed: Feed;
  hasDialog: boolean;
}

/** Every page: the word in the address, the word people read, what it draws. */
const PAGES: [string, string, ComponentType<PageProps>][] = [
  ["inbox", "Inbox", InboxPage],
  ["history", "History", HistoryPage],
  ["grants", "Grants", GrantsPage],
  ["policy", "Policy", PolicyPage],
  ["audit", "Audit", AuditPage],
  ["agents", "Agents", AgentsPage],
  ["numbers", "Numbers", NumbersPage],
];

const KEYS: [string, string][] = [
  ["j  k", "next, previous ask"],
  ["a", "approve once (or as far as chosen); what could destroy asks you again"],
  ["y", "confirm that second step"],
  ["r", "reject"],
  ["e", "edit before approving"],
  ["x", "mark, to answer many at once"],
  ["/", "filter"],
  ["?", "this help"],
];

const LINKS: Record<Link, string> = {
  connecting: "connecting…",
  live: "live",
  offline: "not connected; trying again…",
  "signed-out": "signed out",
};

const Help = ({ onClose }: { onClose: () => void }) => {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => box.current?.showModal?.(), []);
  return (
    <dialog ref={box} class="help" role="dialog" aria-label="keys" onClose={onClose} onClick={(event) => event.target === box.current && onClose()}>
      <h2>Keys</h2>
      <dl>
        {KEYS.map(([key, about]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{about}</dd>
          </div>
        ))}
      </dl>
      <p class="faint">Enter never approves by itself: the focus stands on Reject.</p>
      <button type="button" onClick={onClose}>
        Close
      </button>
    </dialog>
  );
};

/** What others settled while one was looking. */
const Toasts = ({ settled }: { settled: readonly Ask[] }) => {
  const seen = useRef(new Set(settled.map((ask) => ask.id)));
  const [shown, setShown] = useState<Ask[]>([]);
  useEffect(() => {
    const fresh = settled.filter((ask) => !seen.current.has(ask.id));
    if (fresh.length === 0) return;
    for (const ask of fresh) seen.current.add(ask.id);
    setShown((before) => [...fresh, ...before].slice(0, 3));
    // Each goes in its own time: what is settled next must not keep it there.
    setTimeout(() => setShown((before) => before.filter((ask) => !fresh.includes(ask))), 6000);
  }, [settled]);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.map((ask) => (
        <div class={`toast ${ask.state}`} key={ask.id}>
          <code>{title(ask.call)}</code>
          <span>{ask.decision ? ending(ask, ask.decision) : ask.state}</span>
        </div>
      ))}
    </div>
  );
};

const SignIn = ({ failure }: { failure: string | undefined }) => (
  <main class="signing-in">
    <Empty title="Sign in with a link">
      {failure && (
        <p class="fault" role="alert">
          {failure}
        </p>
      )}
      <p>
        <code>portcullis serve</code> prints a link when it starts. It is good once, for ten minutes.
      </p>
      <p class="faint">A browser that is signed in makes links for others under Agents.</p>
    </Empty>
  </main>
);

export const App = ({ feed, failure }: { feed: Feed; failure: string | undefined }) => {
  const inbox = useInbox(feed);
  const page = usePage();
  const [hasHelp, setHelp] = useState(false);
  const [mayNotify, setMayNotify] = useState(notify.state);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (hands.isAstray(event) || (event.target as HTMLElement).closest("input, textarea, select")) return;
      if (event.key === "?") setHelp((before) => !before);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  useEffect(hands.watch, []);
  useEffect(() => feed.listen((now, opened) => opened && notify.about(() => inOrder(now.asks.values()))), [feed]);
  const waiting = inbox.asks.size;
  const worst = [...inbox.asks.values()].some((ask) => ask.verdict.tier === "destructive" || ask.verdict.tier === "dangerous");
  useEffect(() => document.querySelector(".nav [aria-current]")?.scrollIntoView?.({ inline: "nearest", block: "nearest" }), [page]);
  useEffect(() => {
    if (waiting === 0) notify.over();
    document.title = waiting === 0 ? "Portcullis" : `(${tally(inbox)}) Portcullis`;
  }, [waiting, inbox.isWhole]);

  if (inbox.link === "signed-out") return <SignIn failure={failure} />;
  const [, name, Page] = PAGES.find(([word]) => word === page) ?? (PAGES[0] as (typeof PAGES)[number]);
  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), document.getElementById("main")?.focus())}>
        to the content
      </a>
      <nav class="nav" aria-label="pages">
        <a class="brand" href="#/inbox" aria-label="Portcullis, inbox">
          <img src="/icon.svg" alt="" width="28" height="28" />
          <span>Portcullis</span>
        </a>
        <ul>
          {PAGES.map(([word, label]) => (
            <li key={word}>
              <a href={`#/${word}`} aria-current={name === label ? "page" : undefined}>
                {label}
                {word === "inbox" && waiting > 0 && <span class={`tally ${worst ? "bad" : ""}`}>{tally(inbox)}</span>}
              </a>
            </li>
          ))}
        </ul>
        <div class="nav-foot">
          {mayNotify === "default" && (
            <button type="button" class="quiet" onClick={() => void notify.ask().then(setMayNotify)}>
              Notify me
            </button>
          )}
          <button type="button" class="quiet keys" onClick={() => setHelp(true)}>
            Keys <kbd>?</kbd>
          </button>
          <p class={`link ${inbox.link}`} role="status">
            <span class="dot" aria-hidden="true" />
            {LINKS[inbox.link]}
          </p>
        </div>
      </nav>
      {inbox.link === "offline" && (
        <p class="offline" role="alert">
          The daemon does not answer. What you see may be old, and nothing can be answered until it is back. Trying again…
        </p>
      )}
      <main id="main" tabIndex={-1}>
        <Page feed={feed} hasDialog={hasHelp} />
      </main>
      <Toasts settled={inbox.settled} />
      {hasHelp && <Help onClose={() => setHelp(false)} />}
    </div>
  );
};

/** Signs in with the code of the address, if it has one; says what went wrong. */
export const signIn = async (): Promise<string | undefined> => {
  const code = location.hash.slice(1);
  if (code === "" || code.startsWith("/")) return undefined;
  history.replaceState(null, "", "/");
  try {
    await api.login(code);
    return undefined;
  } catch (error) {
    return said(error);
  }
};

