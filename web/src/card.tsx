// The card of an ask: what would run, what it does, who asks, and the answer.

import { useState } from "preact/hooks";
import { Answering, type AnsweringProps } from "./answering";
import { Ago, Fact, Said, Some, TierSign } from "./chips";
import { Command } from "./command";
import { Diff, SHOWN, edits } from "./diff";
import { useNow } from "./hooks";
import { line } from "./show";
import type { Ask } from "./wire";
import { Acts, Why, explainAsk } from "./why";
import { besides, commandField, commandOf, countdown, isCommand, moment, textOf } from "./words";

/** How long is left, and how the ask ends then. */
export const Deadline = ({ ask }: { ask: Ask }) => {
  const now = useNow();
  if (!ask.deadline_at || ask.decision) return null;
  const left = Date.parse(ask.deadline_at) - now;
  const then = ask.fallback === "deny" ? "then it is denied" : "then the policy's fallback allows it";
  return (
    <span class={left < 60_000 ? "deadline soon" : "deadline"} title={`${moment(ask.deadline_at)}: ${then}`}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="8" cy="8" r="6.25" />
        <path d="M8 4.5V8l2.5 1.5" />
      </svg>
      {left <= 0 ? "time is up" : countdown(left)}
    </span>
  );
};

export const Card = ({ ask, onSettled, takesKeys }: AnsweringProps) => {
  const [isExplained, setExplained] = useState(false);
  const changes = isCommand(ask.call) ? [] : edits(ask.call.input);
  const field = commandField(ask.call.input);
  const more = field ? besides(ask.call.input, [field]) : changes.length > 0 ? besides(ask.call.input, SHOWN) : undefined;
  const { description } = ask.call;
  return (
    <article class={`card ${ask.verdict.tier}`} aria-label={`${ask.verdict.tier} call of ${line(ask.agent)}`}>
      <header>
        <TierSign tier={ask.verdict.tier} />
        <h2>
          <Said text={ask.call.tool} />
          <span class="by"> by </span>
          <Said text={ask.agent} />
        </h2>
        <Deadline ask={ask} />
      </header>
      {changes.length > 0 && (
        <p class="path">
          <code>
            <Said text={commandOf(ask.call)} />
          </code>
        </p>
      )}
      {changes.length > 0 ? changes.map((change, index) => <Diff key={index} {...change} />) : <Command key={ask.id} text={textOf(ask.call)} verdict={isCommand(ask.call) ? ask.verdict : undefined} />}
      {more !== undefined && (
        <div class="besides">
          <span class="label">Also in its input</span>
          <Command key={ask.id} text={JSON.stringify(more, null, 2)} label="the rest of the input" />
        </div>
      )}
      <ul class="reasons">
        <Some most={4} what="reasons">
          {ask.verdict.reasons.map((reason, index) => (
            <li key={index} class={index === 0 ? "first" : ""}>
              <Said text={reason.message} /> <code class="code">{reason.code}</code>
            </li>
          ))}
        </Some>
      </ul>
      {description && (
        <blockquote class="agent-says">
          <span class="label">The agent’s words; nobody checked them</span>
          <Said text={description} />
        </blockquote>
      )}
      {ask.verdict.acts.length > 0 && <Acts key={ask.id} acts={ask.verdict.acts} text={isCommand(ask.call) ? commandOf(ask.call) : undefined} />}
      <dl class="facts">
        <Fact label="where">
          <code>
            <Said text={ask.call.cwd ?? "nowhere in particular"} />
          </code>
        </Fact>
        {ask.host && (
          <Fact label="host">
            <Said text={ask.host} />
          </Fact>
        )}
        <Fact label="owner">
          <Said text={ask.owner} />
        </Fact>
        {ask.session && (
          <Fact label="session">
            <Said text={ask.session} />
          </Fact>
        )}
        {ask.run && (
          <Fact label="run">
            <Said text={ask.run} />
          </Fact>
        )}
        <Fact label="asked">
          <Ago at={ask.opened_at} />
          {ask.waiting > 0 ? "" : " · nobody waits right now"}
        </Fact>
        <Fact label="paths">{{ live: "looked up on disk", recorded: "as the agent's machine resolved them", lexical: "as written, not looked up" }[ask.verdict.world] ?? ask.verdict.world}</Fact>
      </dl>
      <details class="why-box" open={isExplained} onToggle={(event) => setExplained(event.currentTarget.open)}>
        <summary>Why was this asked?</summary>
        {isExplained && <Why of={ask.id} load={explainAsk(ask.id)} />}
      </details>
      <footer>
        <Answering ask={ask} onSettled={onSettled} takesKeys={takesKeys} />
      </footer>
    </article>
  );
};
