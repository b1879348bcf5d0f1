// Small signs: tiers, effects, outcomes, and text that comes from a call.

import { type ComponentChildren, toChildArray } from "preact";
import { useState } from "preact/hooks";
import { useNow } from "./hooks";
import { line, shown } from "./show";
import type { EffectOn, Outcome, Tier } from "./wire";
import { ago, moment } from "./words";

/** Text of a call on one line; nothing in it can hide. */
export const Said = ({ text, className }: { text: string; className?: string }) => (
  <span class={`said ${className ?? ""}`} dir="ltr">
    {shown(text).map((piece) =>
      piece.kind === "plain" ? (
        piece.text
      ) : (
        <span class={`piece ${piece.kind}`}>{piece.kind === "break" || piece.kind === "tab" ? piece.text.slice(0, 1) : piece.text}</span>
      ),
    )}
  </span>
);

export const TierSign = ({ tier }: { tier: Tier }) => <span class={`tier ${tier}`}>{tier}</span>;

const DONE: Record<Outcome, string> = { allow: "allowed", ask: "asked", deny: "denied" };

export const OutcomeSign = ({ outcome, word }: { outcome: Outcome; word?: string }) => (
  <span class={`outcome ${outcome}`}>{word ?? DONE[outcome]}</span>
);

const EFFECTS: Record<string, string> = {
  read: "reads",
  query: "asks",
  write: "writes",
  delete: "deletes",
  change: "changes",
  execute: "runs",
  connect: "connects",
  escalate: "escalates",
  unknown: "does what is not known",
};

/** What an act does, and to what. */
export const EffectChip = ({ effect }: { effect: EffectOn }) => (
  <span class={`chip effect-${effect.effect}`}>
    <b>{EFFECTS[effect.effect] ?? effect.effect}</b>
    {effect.target !== undefined && <Said text={effect.target} />}
  </span>
);

/** How long ago; only this ticks, not what stands around it. */
export const Ago = ({ at }: { at: string }) => {
  const now = useNow();
  return (
    <time dateTime={at} title={moment(at)}>
      {ago(at, now)}
    </time>
  );
};

/** A labelled fact. */
export const Fact = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <div class="fact">
    <dt>{label}</dt>
    <dd>{children}</dd>
  </div>
);

/** What stands where nothing is. */
export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="empty">
    <svg viewBox="0 0 64 64" aria-hidden="true" class="gate">
      <path d="M12 54V28a20 20 0 0 1 40 0v26M22 24v30M32 20v34M42 24v30M14 32h36M14 43h36" />
    </svg>
    <p class="empty-title">{title}</p>
    {children && <div class="empty-text">{children}</div>}
  </div>
);

export const Loading = ({ rows = 6 }: { rows?: number }) => (
  <div class="loading" role="status" aria-label="loading">
    {Array.from({ length: rows }, (_, index) => (
      <div class="bone" key={index} />
    ))}
  </div>
);

export const Fault = ({ message, again }: { message: string; again?: () => void }) => (
  <div class="fault" role="alert">
    <span>{line(message)}</span>
    {again && (
      <button type="button" class="quiet" onClick={again}>
        Try again
      </button>
    )}
  </div>
);

/** Taking something back, behind a second button. */
export const Revoke = ({ onSure }: { onSure: () => void }) => {
  const [isSure, setSure] = useState(false);
  if (!isSure)
    return (
      <button type="button" onClick={() => setSure(true)}>
        Revoke
      </button>
    );
  return (
    <span class="actions">
      <button type="button" onClick={() => setSure(false)}>
        Keep
      </button>
      <button
        type="button"
        class="reject"
        onClick={() => {
          setSure(false);
          onSure();
        }}
      >
        Revoke it
      </button>
    </span>
  );
};

/** The first of many, and all of them on demand; how many there are is always said. */
export const Some = ({ most, what, children }: { most: number; what: string; children: ComponentChildren }) => {
  const [isWhole, setWhole] = useState(false);
  const all = toChildArray(children);
  return (
    <>
      {isWhole ? all : all.slice(0, most)}
      {all.length > most && (
        <li class="more">
          <button type="button" class="quiet" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? "fewer" : `${all.length - most} more ${what}`}
          </button>
        </li>
      )}
    </>
  );
};
