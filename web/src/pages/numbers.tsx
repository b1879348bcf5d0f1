// Numbers worth looking at: how often one is asked, how fast one answers, and which rules would
// have saved the most questions.

import { useState } from "preact/hooks";
import * as api from "../api";
import type { PageProps } from "../app";
import { DayBars, RankBars } from "../chart";
import { Empty, Fault, Loading, Said, TierSign } from "../chips";
import { said, useChanges, useLoad, useNarrow } from "../hooks";
import { line } from "../show";
import type { Preview, Stats } from "../wire";
import { count, span } from "../words";

/** A rule that would have saved questions: tried on the past before it is added. */
const Saving = ({ saving, onAdded }: { saving: Stats["rules"][number]; onAdded: () => void }) => {
  const [preview, setPreview] = useState<Preview>();
  const [failure, setFailure] = useState<string>();
  const [isAdded, setAdded] = useState(false);
  const look = () => api.preview(saving.ask, saving.rule).then(setPreview, (error: unknown) => setFailure(said(error)));
  const add = () =>
    api.makeGrant(saving.ask, saving.rule).then(
      () => {
        setAdded(true);
        onAdded();
      },
      (error: unknown) => setFailure(said(error)),
    );
  return (
    <li class="row-card">
      <div class="row-main">
        <p class="row-what">
          <code>
            <Said text={saving.rule} />
          </code>
        </p>
        <p class="faint">
          would have answered {count(saving.asks, "ask")} · covers <Said text={saving.also_covers} />
        </p>
        {failure && <Fault message={failure} />}
        {preview && (
          <div class="preview">
            <p class="faint">
              Of {count(preview.looked_at, "different call")} that were asked about lately it would have allowed {preview.covered}:
            </p>
            <ul class="examples">
              {preview.examples.map((example) => (
                <li key={example.command}>
                  <code>
                    <Said text={example.command} />
                  </code>
                  <TierSign tier={example.tier} />
                </li>
              ))}
            </ul>
          </div>
        )}
      </div>
      {isAdded ? (
        <span class="outcome allow">added</span>
      ) : preview ? (
        <button type="button" class="approve" onClick={() => void add()}>
          Add the rule
        </button>
      ) : (
        <button type="button" onClick={() => void look()}>
          Preview
        </button>
      )}
    </li>
  );
};

const Big = ({ value, label }: { value: string; label: string }) => (
  <div class="big">
    <b>{value}</b>
    <span>{label}</span>
  </div>
);

const spanName = (spans: Stats["answer_times"], index: number): string => {
  const under = spans[index]?.under_s;
  const over = spans[index - 1]?.under_s;
  if (under === undefined) return `${span((over ?? 0) * 1000)} and more`;
  return over === undefined ? `under ${span(under * 1000)}` : `${span(over * 1000)} to ${span(under * 1000)}`;
};

export const NumbersPage = ({ feed }: PageProps) => {
  const changes = useChanges(feed);
  const isNarrow = useNarrow();
  const [days, setDays] = useState(14);
  const { value: stats, failure, again } = useLoad(() => api.stats(days), [days, changes]);
  const head = (
    <div class="page-head">
      <h1>Numbers</h1>
      <div class="segments" role="group" aria-label="how many days">
        {[7, 14, 30, 90].map((one) => (
          <button type="button" key={one} aria-pressed={days === one} onClick={() => setDays(one)}>
            {one} days
          </button>
        ))}
      </div>
    </div>
  );
  if (!stats) {
    return (
      <div class="page">
        {head}
        {failure ? <Fault message={failure} again={again} /> : <Loading />}
      </div>
    );
  }
  const calls = stats.days.reduce((sum, day) => sum + day.calls, 0);
  const asks = stats.days.reduce((sum, day) => sum + day.asks, 0);
  const allowed = stats.outcomes.allow ?? 0;
  const names = stats.days.map((day) => day.day);
  if (calls === 0) {
    return (
      <div class="page">
        {head}
        <Empty title="Nothing to count yet">
          <p>Once agents make calls, this page shows how often you are asked, and how to be asked less.</p>
        </Empty>
      </div>
    );
  }
  return (
    <div class="page">
      {head}
      {failure && <Fault message={failure} again={again} />}
      <div class="bigs">
        <Big value={calls.toLocaleString()} label="calls judged" />
        <Big value={`${Math.round((allowed / calls) * 100)} %`} label="allowed without you" />
        <Big value={asks.toLocaleString()} label="asks" />
        <Big value={stats.median_answer_ms === undefined ? "–" : span(stats.median_answer_ms)} label="median time to answer" />
      </div>
      <section class="panel">
        <DayBars
          title="Calls per day"
          width={isNarrow ? "half" : "whole"}
          days={names}
          series={[
            { label: "allowed at once", tone: "tone-allowed", values: stats.days.map((day) => day.allowed) },
            { label: "asked", tone: "tone-asks", values: stats.days.map((day) => Math.max(0, day.calls - day.allowed - day.denied)) },
            { label: "denied at once", tone: "tone-denied", values: stats.days.map((day) => day.denied) },
          ]}
        />
      </section>
      <div class="two">
        <section class="panel">
          <DayBars title="Asks per day" days={names} series={[{ label: "asks", tone: "tone-asks", values: stats.days.map((day) => day.asks) }]} />
        </section>
        <section class="panel">
          <DayBars title="Time to answer" days={names} unit={(value) => (value === 0 ? "0" : span(value))} series={[{ label: "median", tone: "tone-time", values: stats.days.map((day) => day.median_answer_ms ?? 0) }]} />
        </section>
        <section class="panel">
          {stats.programs.length > 0 ? <RankBars title="Asked about most" rows={stats.programs.map((one) => ({ label: line(one.program), value: one.asks }))} what={["ask", "asks"]} /> : <Empty title="Nothing was asked about" />}
        </section>
        <section class="panel">
          <RankBars title="How long answers took" rows={stats.answer_times.map((one, index) => ({ label: spanName(stats.answer_times, index), value: one.answers }))} what={["answer", "answers"]} />
        </section>
      </div>
      <section class="panel" aria-label="rules that would have saved questions">
        <h2>Rules that would have saved the most questions</h2>
        <p class="faint">Each is an offer of an ask you have seen. Preview it on the past, then add it as a grant.</p>
        {stats.rules.length === 0 ? (
          <p class="faint">None: what was asked about has no rule that would be safe to offer.</p>
        ) : (
          <ul class="rows">
            {stats.rules.map((saving) => (
              <Saving key={saving.rule} saving={saving} onAdded={again} />
            ))}
          </ul>
        )}
      </section>
      {!stats.is_complete && <p class="faint">There is more than is counted here: the oldest days may be short.</p>}
    </div>
  );
};
