// Why a verdict fell: each act with what it does, and the rung of the ladder that held it.

import { useState } from "preact/hooks";
import * as api from "./api";
import { EffectChip, Fault, Loading, OutcomeSign, Said, Some, TierSign } from "./chips";
import { excerpt } from "./command";
import { useLoad } from "./hooks";
import { line } from "./show";
import type { Act, Explained, Explanation } from "./wire";
import { commandOf, isCommand, rank } from "./words";

const isWorse = (a: Act, b: Act): number => rank(b.tier) - rank(a.tier) || Number(a.read_only) - Number(b.read_only);

/** Acts, the riskiest first. */
export const Acts = ({ acts, text }: { acts: Act[]; text?: string | undefined }) => (
  <ol class="acts">
    <Some most={6} what="acts">
    {[...acts].sort(isWorse).map((act, index) => (
      <li class={`act ${act.tier}`} key={index}>
        <div class="act-head">
          <TierSign tier={act.tier} />
          <code class="argv">
            {act.argv.length === 0 && text !== undefined && <Said text={excerpt(text, act.span)} />}
            {act.argv.map((word, at) => (
              <>
                {at > 0 && " "}
                {word === null ? <i class="unknown">unknown</i> : <Said text={word === "" ? "''" : word} />}
              </>
            ))}
          </code>
          {act.via.length > 0 && <span class="via">inside {line(act.via.join(" > "))}</span>}
        </div>
        <div class="chips">
          {act.effects.map((effect, at) => (
            <EffectChip effect={effect} key={at} />
          ))}
          {act.read_only && <span class="chip plain">read-only</span>}
          {act.rule && (
            <span class="chip plain">
              rule <Said text={act.rule} /> · {act.source ?? "policy"}
            </span>
          )}
        </div>
        {act.reason && (
          <p class="act-why">
            {act.outcome && <OutcomeSign outcome={act.outcome} />} <Said text={act.reason.message} /> <code class="code">{act.reason.code}</code>
          </p>
        )}
        {act.findings?.map((finding, at) => (
          <p class="finding" key={at}>
            <TierSign tier={finding.tier} /> <b>{finding.guard}</b> <Said text={finding.message} />
            {finding.firm && <span class="chip plain">firm: no rule can silence it</span>}
          </p>
        ))}
        {act.touches && act.touches.length > 0 && (
          <ul class="touches">
            {act.touches.map((touch, at) => (
              <li key={at}>
                {touch.effect} <Said text={touch.real ?? touch.path ?? touch.written} />
                {touch.real !== undefined && touch.real !== touch.path && (
                  <>
                    {" "}
                    (named <Said text={touch.written} />)
                  </>
                )}
              </li>
            ))}
          </ul>
        )}
      </li>
    ))}
    </Some>
  </ol>
);

export const Ladder = ({ explanation }: { explanation: Explanation }) => (
  <ol class="ladder">
    {explanation.ladder.map((step) => (
      <li class={step.held.length > 0 ? "held" : ""} key={step.rung}>
        <span class="rung">{step.rung}</span>
        <span>{step.about.replaceAll("`", "")}</span>
        <span class="held-by">{step.held.length > 0 ? `held ${step.held.length === 1 ? "1 act" : `${step.held.length} acts`}` : "passed by"}</span>
      </li>
    ))}
  </ol>
);

/** An explanation with what was said at its time. */
export const ExplanationView = ({ explained }: { explained: Explained }) => {
  const { explanation, recorded, policy, notes } = explained;
  const differs = recorded?.outcome && recorded.outcome !== explanation.outcome;
  return (
    <div class="explanation">
      <p class="verdict-line">
        <OutcomeSign outcome={explanation.outcome} /> <TierSign tier={explanation.tier} />
        {explanation.firm && <span class="chip plain">firm</span>}
        <span class="faint">
          policy <code>{policy.version.slice(0, 8)}</code> · world {explanation.world}
        </span>
      </p>
      {differs && (
        <p class="note">
          At its time it was <OutcomeSign outcome={recorded.outcome} />; the engine or the policy has changed since.
        </p>
      )}
      <ul class="reasons">
        <Some most={5} what="reasons">
          {explanation.reasons.map((reason, index) => (
            <li key={index}>
              <Said text={reason.message} /> <code class="code">{reason.code}</code>
            </li>
          ))}
        </Some>
      </ul>
      <h4>Acts</h4>
      <Acts acts={explanation.acts} text={isCommand(explanation) ? commandOf(explanation) : undefined} />
      <h4>The ladder</h4>
      <Ladder explanation={explanation} />
      {notes?.map((note) => (
        <p class="faint" key={note}>
          {line(note)}
        </p>
      ))}
    </div>
  );
};

/** The explanation of an ask or a past call, by the policy of its time or by today's. */
export const Why = ({ of, load }: { of: string; load: (policy: "then" | "now") => Promise<Explained> }) => {
  const [policy, setPolicy] = useState<"then" | "now">("then");
  const { value, failure, again } = useLoad(() => load(policy), [of, policy]);
  return (
    <section class="why" aria-label="why was this asked">
      <div class="segments" role="group" aria-label="by which policy">
        {(["then", "now"] as const).map((one) => (
          <button type="button" key={one} aria-pressed={policy === one} onClick={() => setPolicy(one)}>
            {one === "then" ? "policy of its time" : "policy of today"}
          </button>
        ))}
      </div>
      {failure ? <Fault message={failure} again={again} /> : value ? <ExplanationView explained={value} /> : <Loading rows={3} />}
    </section>
  );
};

export const explainAsk = (id: string) => (policy: "then" | "now") => api.explainAsk(id, policy);
export const explainCall = (cursor: string) => (policy: "then" | "now") => api.explainCall(cursor, policy);
