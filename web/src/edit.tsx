// Editing a call before it is approved: the engine judges every change before it can be sent.

import { useEffect, useMemo, useState } from "preact/hooks";
import * as api from "./api";
import { Fault, OutcomeSign, Said, TierSign } from "./chips";
import { Command } from "./command";
import { said, useCalm } from "./hooks";
import type { Ask, Json, Verdict } from "./wire";
import { commandField } from "./words";

/** The text to edit: the command, or the whole input as JSON. */
export const editable = (ask: Ask): string => {
  const name = commandField(ask.call.input);
  return name ? ((ask.call.input as Record<string, Json>)[name] as string) : JSON.stringify(ask.call.input, null, 2);
};

/** The input with the edited text in it. */
export const edited = (ask: Ask, text: string): Json => {
  const name = commandField(ask.call.input);
  return name ? { ...(ask.call.input as Record<string, Json>), [name]: text } : (JSON.parse(text) as Json);
};

interface Props {
  ask: Ask;
  onCancel: () => void;
  /** Sends the edited call; the verdict says whether a second step is needed. */
  onSend: (input: Json, verdict: Verdict) => void;
  isBusy: boolean;
}

export const Edit = ({ ask, onCancel, onSend, isBusy }: Props) => {
  const [text, setText] = useState(() => editable(ask));
  const calm = useCalm(text, 250);
  const [judged, setJudged] = useState<{ text: string; verdict?: Verdict; failure?: string }>();
  const input = useMemo(() => {
    try {
      return { value: edited(ask, text) };
    } catch (error) {
      return { failure: said(error) };
    }
  }, [ask, text]);
  useEffect(() => {
    const abort = new AbortController();
    let value: Json;
    try {
      value = edited(ask, calm);
    } catch {
      return () => abort.abort();
    }
    api.checkAsk(ask.id, value, abort.signal).then(
      ({ verdict }) => setJudged({ text: calm, verdict }),
      (error: unknown) => !abort.signal.aborted && setJudged({ text: calm, failure: said(error) }),
    );
    return () => abort.abort();
  }, [ask, calm]);
  const verdict = judged?.text === text ? judged.verdict : undefined;
  const isDenied = verdict?.outcome === "deny";
  const isSame = text === editable(ask);
  return (
    <section class="edit" aria-label="edit the call">
      <label>
        <span class="label">What runs instead</span>
        <textarea
          value={text}
          rows={Math.min(14, Math.max(3, text.split("\n").length + 1))}
          spellcheck={false}
          autocomplete="off"
          onInput={(event) => setText(event.currentTarget.value)}
          ref={(area) => {
            if (area && !area.dataset.met) {
              area.dataset.met = "1";
              area.focus();
            }
          }}
        />
      </label>
      <div class="edit-verdict" aria-live="polite">
        {"failure" in input ? (
          <Fault message={`not JSON: ${input.failure}`} />
        ) : judged?.text === text && judged.failure ? (
          <Fault message={judged.failure} />
        ) : verdict ? (
          <>
            <p class="verdict-line">
              <OutcomeSign outcome={verdict.outcome} word={{ allow: "would be allowed", ask: "asks, and you answer", deny: "would be denied" }[verdict.outcome]} />
              <TierSign tier={verdict.tier} />
            </p>
            <Command text={text} verdict={verdict} label="edited command" />
            {verdict.reasons.slice(0, 2).map((reason, index) => (
              <p class="faint" key={index}>
                <Said text={reason.message} /> <code class="code">{reason.code}</code>
              </p>
            ))}
          </>
        ) : (
          <p class="faint">judging…</p>
        )}
      </div>
      <div class="actions">
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
        <button
          type="button"
          class="approve"
          disabled={isBusy || !verdict || isDenied || isSame || "failure" in input}
          onClick={() => verdict && !("failure" in input) && onSend(input.value as Json, verdict)}
        >
          {isDenied ? "A rule denies this" : isSame ? "Nothing changed" : "Approve the edited call"}
        </button>
      </div>
    </section>
  );
};
