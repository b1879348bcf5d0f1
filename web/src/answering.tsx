// Answering one ask: how far an approval reaches, what it would store, and the second step before
// something destructive.
//
// Reject has the focus. No key but a deliberate one decides: Enter does what the focused button
// says, and the focus never starts on an approval.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import * as api from "./api";
import { Fault, Loading, Said } from "./chips";
import { excerpt, worstOf } from "./command";
import { Edit } from "./edit";
import { isAstray, isTooSoon } from "./hands";
import { said, useLoad } from "./hooks";
import type { Answer, Ask, Json, Offer, Scope, Verdict } from "./wire";
import { SCOPES, commandOf, ending, examples, isCommand, saying, textOf } from "./words";

/** How far an approval reaches, as the form has it. */
export interface Reach {
  scope: Scope;
  /** The offer to store; this very call where there is none. */
  rule: string | undefined;
  minutes: number | undefined;
  uses: number | undefined;
}

export const ONCE: Reach = { scope: "once", rule: undefined, minutes: undefined, uses: undefined };

/** The scopes there are for an ask. */
export const scopes = (ask: Ask): Scope[] => ["once", ...(ask.run ? (["run"] as Scope[]) : []), ...(ask.session ? (["session"] as Scope[]) : []), "always"];

/** The answer that a form says. */
export const approval = (reach: Reach, feedback: string, input?: Json): Answer => ({
  answer: "approve",
  scope: reach.scope,
  ...(reach.scope !== "once" && reach.rule !== undefined ? { rules: [reach.rule] } : {}),
  ...(reach.scope !== "once" && reach.minutes !== undefined ? { valid_s: reach.minutes * 60 } : {}),
  ...(reach.scope !== "once" && reach.uses !== undefined ? { uses: reach.uses } : {}),
  ...(feedback.trim() === "" ? {} : { feedback: feedback.trim() }),
  ...(input === undefined ? {} : { input }),
});

/** What an approval leaves behind, in one sentence. */
export const leaves = (ask: Ask, reach: Reach): string => {
  if (reach.scope === "once") return "Runs once. Nothing is stored; the next such call asks again.";
  const ends = [
    reach.minutes ? `for ${reach.minutes} minutes` : "",
    reach.uses ? `for ${reach.uses} executions, this one included` : "",
  ].filter(Boolean);
  const where = { run: "in this run", session: "in this session", always: "in every session", once: "" }[reach.scope];
  const what = reach.rule === undefined ? "this very call, to the byte" : "whatever the rule covers";
  if (reach.scope === "always" && reach.rule === undefined && ask.verdict.firm && ends.length === 0) {
    return "A firm finding speaks about this call: it is approved once, and nothing is stored.";
  }
  return `Allows ${what}, ${[where, ...ends].filter(Boolean).join(", ")}. You can revoke it under Grants.`;
};

const OfferDetails = ({ ask, offer }: { ask: Ask; offer: Offer }) => {
  const own = commandOf(ask.call);
  // Nothing is said to be allowed that the engine did not allow with the rule.
  const tries = examples(offer.rule, own).flatMap((text) => {
    const input = saying(ask.call.input, text);
    return input === undefined ? [] : [{ text, input }];
  });
  const { value: history, failure } = useLoad(() => api.preview(ask.id, offer.rule, tries.map((one) => one.input)), [ask.id, offer.rule]);
  const past = (history?.examples ?? []).map((example) => example.command).filter((command) => command !== own);
  const allowed = tries.filter((_, index) => history?.tried?.[index] === "allow").map((one) => one.text);
  const shownExamples = [...new Set([...past, ...allowed])].slice(0, 3);
  return (
    <div class="offer-details">
      <p class="rule">
        <span class="label">The rule that is stored</span>
        <code>
          <Said text={offer.rule} />
        </code>
      </p>
      {offer.also_covers.map((covers) => (
        <p class="faint" key={covers}>
          covers <Said text={covers} />
        </p>
      ))}
      <span class="label">It would also allow</span>
      {failure ? <Fault message={failure} /> : !history ? <Loading rows={1} /> : shownExamples.length === 0 && <p class="faint">nothing that was tried</p>}
      <ul class="examples">
        {shownExamples.map((example) => (
          <li key={example}>
            <code>
              <Said text={example} />
            </code>
            {past.includes(example) && <span class="chip plain">was asked before</span>}
          </li>
        ))}
      </ul>
      {history && history.covered > 0 && (
        <p class="faint">
          Of {history.looked_at} different calls that were asked about lately it would have answered {history.covered}.
        </p>
      )}
    </div>
  );
};

/** The form for how far an approval reaches. */
export const ReachForm = ({ ask, reach, setReach }: { ask: Ask; reach: Reach; setReach: (reach: Reach) => void }) => {
  const offers = ask.offers.filter((offer) => offer.scopes.includes(reach.scope));
  const offer = offers.find((one) => one.rule === reach.rule);
  const number = (text: string): number | undefined => {
    const value = Number.parseInt(text, 10);
    return Number.isFinite(value) && value > 0 ? value : undefined;
  };
  return (
    <fieldset class="reach">
      <legend class="label">How far the approval reaches</legend>
      <div class="segments" role="radiogroup" aria-label="scope">
        {scopes(ask).map((scope) => (
          <button
            type="button"
            role="radio"
            aria-checked={reach.scope === scope}
            key={scope}
            onClick={() => setReach({ ...reach, scope, rule: ask.offers.find((one) => one.scopes.includes(scope) && one.rule === reach.rule)?.rule })}
          >
            {SCOPES[scope]}
          </button>
        ))}
        <button type="button" role="radio" aria-checked={false} onClick={() => setReach({ scope: ask.session ? "session" : "always", rule: undefined, minutes: 10, uses: undefined })}>
          10 minutes
        </button>
      </div>
      {reach.scope !== "once" && (
        <div class="reach-more">
          <div class="choices" role="radiogroup" aria-label="what is allowed">
            <label>
              <input type="radio" name={`what-${ask.id}`} checked={reach.rule === undefined} onChange={() => setReach({ ...reach, rule: undefined })} />
              this very call
            </label>
            {offers.map((one) => (
              <label key={one.rule}>
                <input type="radio" name={`what-${ask.id}`} checked={reach.rule === one.rule} onChange={() => setReach({ ...reach, rule: one.rule })} />
                <code>
                  <Said text={one.rule} />
                </code>
              </label>
            ))}
          </div>
          <div class="limits">
            <label>
              <span>for minutes</span>
              <input type="number" min={1} max={525_600} inputMode="numeric" placeholder="no end" value={reach.minutes ?? ""} onInput={(event) => setReach({ ...reach, minutes: number(event.currentTarget.value) })} />
            </label>
            <label>
              <span>for uses</span>
              <input type="number" min={1} max={1_000_000} inputMode="numeric" placeholder="any" value={reach.uses ?? ""} onInput={(event) => setReach({ ...reach, uses: number(event.currentTarget.value) })} />
            </label>
          </div>
          {offer && <OfferDetails key={`${ask.id} ${offer.rule}`} ask={ask} offer={offer} />}
        </div>
      )}
      <p class="leaves">{leaves(ask, reach)}</p>
    </fieldset>
  );
};

/** The second step: the dangerous part once more, and a button that says what it does. */
const Sure = ({ ask, verdict, text, onBack, onApprove, isBusy }: { ask: Ask; verdict: Verdict; text: string; onBack: () => void; onApprove: () => void; isBusy: boolean }) => {
  const worst = worstOf(verdict);
  const part = worst && isCommand(ask.call) ? excerpt(text, worst.span) : text;
  const back = useRef<HTMLButtonElement>(null);
  // With the dialog, not after it: a key pressed at once must meet this button.
  useLayoutEffect(() => back.current?.focus(), []);
  return (
    <div class="sure" role="alertdialog" aria-label="this could destroy something">
      <p class="sure-title">This could destroy something. It cannot be undone.</p>
      <pre dir="ltr" tabIndex={0} aria-label="the dangerous part">
        <Said text={part} />
      </pre>
      {verdict.reasons.slice(0, 3).map((reason, index) => (
        <p key={index}>
          <Said text={reason.message} />
        </p>
      ))}
      <div class="actions">
        <button type="button" ref={back} onClick={onBack}>
          Go back
        </button>
        <button type="button" class="approve destructive" disabled={isBusy} onClick={onApprove}>
          Yes, run it <kbd>y</kbd>
        </button>
      </div>
    </div>
  );
};

export interface AnsweringProps {
  ask: Ask;
  /** Called once the daemon has taken the answer. */
  onSettled: (ask: Ask) => void;
  /** Keys that are pressed count only for the card that is in front. */
  takesKeys: boolean;
}

export const Answering = ({ ask, onSettled, takesKeys }: AnsweringProps) => {
  const [reach, setReach] = useState<Reach>(ONCE);
  const [feedback, setFeedback] = useState("");
  const [step, setStep] = useState<"answer" | "edit" | "sure">("answer");
  const [changed, setChanged] = useState<{ input: Json; verdict: Verdict }>();
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string>();
  const [wasEarly, setEarly] = useState(false);
  const reject = useRef<HTMLButtonElement>(null);
  const cameUp = useRef(0);
  useLayoutEffect(() => {
    setReach(ONCE);
    setFeedback("");
    setStep("answer");
    setChanged(undefined);
    setFailure(undefined);
    setBusy(false);
    if (takesKeys) reject.current?.focus({ preventScroll: true });
  }, [ask.id]);
  useLayoutEffect(() => {
    cameUp.current = performance.now();
    setEarly(false);
  }, [ask.id, step]);
  /** Does something, unless what is shown came up under the hand. */
  const meant = (act: () => void): void => {
    const isEarly = isTooSoon(cameUp.current);
    setEarly(isEarly);
    if (!isEarly) act();
  };

  const send = async (answer: Answer) => {
    setBusy(true);
    setFailure(undefined);
    try {
      const decision = await api.decide(ask.id, answer);
      const state = answer.answer === "reject" || decision.outcome === "deny" ? "rejected" : "approved";
      onSettled({ ...ask, state, decision });
    } catch (error) {
      const standing = error instanceof api.Failure ? error.details?.decision : undefined;
      if (standing) {
        const state = standing.answer === "approve" ? "approved" : standing.answer === "reject" ? "rejected" : "expired";
        onSettled({ ...ask, state, decision: standing });
        return;
      }
      setFailure(said(error));
      setBusy(false);
      setStep("answer");
    }
  };
  const verdict = changed?.verdict ?? ask.verdict;
  const approveNow = () => void send(approval(reach, feedback, changed?.input));
  const approve = () => (verdict.tier === "destructive" ? setStep("sure") : approveNow());
  const rejectNow = (scope: Scope = "once") => void send({ answer: "reject", scope, ...(feedback.trim() ? { feedback: feedback.trim() } : {}) });

  // What is drawn and what keys mean change together: no key decides about a card that is gone.
  useLayoutEffect(() => {
    if (!takesKeys) return;
    const press = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isBusy) return;
      if (isAstray(event) || target.closest("input, textarea, select, [role=dialog]")) return;
      if (step === "sure") {
        if (event.key === "y") meant(approveNow);
        else if (event.key === "Escape" || event.key === "r") setStep("answer");
        return;
      }
      if (step === "edit") return;
      if (event.key === "a") meant(approve);
      else if (event.key === "r") meant(rejectNow);
      else if (event.key === "e") {
        event.preventDefault();
        meant(() => setStep("edit"));
      }
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });

  if (ask.decision) {
    return (
      <div class={`settled ${ask.state}`} role="status">
        {ending(ask, ask.decision)}
        {ask.decision.feedback && (
          <p>
            “<Said text={ask.decision.feedback} />”
          </p>
        )}
      </div>
    );
  }
  if (step === "edit") {
    return (
      <>
        {failure && <Fault message={failure} />}
        <Edit
          ask={ask}
          isBusy={isBusy}
          onCancel={() => setStep("answer")}
          onSend={(input, judged) => {
            setReach({ ...reach, rule: undefined });
            setChanged({ input, verdict: judged });
            if (judged.tier === "destructive") setStep("sure");
            else void send(approval({ ...reach, rule: undefined }, feedback, input));
          }}
        />
      </>
    );
  }
  const runs = textOf(changed ? { tool: ask.call.tool, input: changed.input } : ask.call);
  return (
    <div class="answering">
      {failure && <Fault message={failure} />}
      {wasEarly && (
        <p class="early" role="status">
          This had only just come up, so nothing was answered. Once more, if you mean it.
        </p>
      )}
      {step === "sure" ? (
        <Sure
          ask={ask}
          verdict={verdict}
          text={runs}
          isBusy={isBusy}
          onApprove={() => meant(approveNow)}
          onBack={() => {
            setChanged(undefined);
            setStep("answer");
          }}
        />
      ) : (
        <>
          <ReachForm ask={ask} reach={reach} setReach={setReach} />
          <label class="feedback">
            <span class="label">Tell the agent</span>
            <input type="text" value={feedback} maxLength={4000} placeholder="optional; the agent reads it" onInput={(event) => setFeedback(event.currentTarget.value)} />
          </label>
          <div class="actions">
            <button type="button" class="reject" ref={reject} disabled={isBusy} onClick={() => meant(rejectNow)}>
              Reject <kbd>r</kbd>
            </button>
            {ask.run && (
              <button type="button" class="quiet" disabled={isBusy} onClick={() => meant(() => rejectNow("run"))}>
                Reject for the run
              </button>
            )}
            <span class="gap" />
            <button type="button" disabled={isBusy} onClick={() => setStep("edit")}>
              Edit <kbd>e</kbd>
            </button>
            <button type="button" class={`approve ${ask.verdict.tier}`} disabled={isBusy} onClick={() => meant(approve)}>
              {reach.scope === "once" ? "Approve once" : `Approve: ${SCOPES[reach.scope]}`} <kbd>a</kbd>
            </button>
          </div>
        </>
      )}
    </div>
  );
};
