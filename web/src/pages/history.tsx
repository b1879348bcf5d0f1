// History: every call that was judged, searched and filtered, each with its explanation.

import { useEffect, useState } from "preact/hooks";
import * as api from "../api";
import { Empty, Fault, Loading, OutcomeSign, Said, TierSign } from "../chips";
import { Command } from "../command";
import { said, useCalm, useLoad } from "../hooks";
import { line } from "../show";
import type { PastCall } from "../wire";
import { Why, explainCall } from "../why";
import { TIERS, commandOf, ending, isCommand, moment, title } from "../words";

const SINCE: [string, string, number][] = [
  ["", "any time", 0],
  ["hour", "last hour", 3_600_000],
  ["day", "last day", 86_400_000],
  ["week", "last week", 604_800_000],
];

const Past = ({ call, isOpen, onToggle }: { call: PastCall; isOpen: boolean; onToggle: () => void }) => (
  <li class={`past ${isOpen ? "open" : ""}`}>
    <button type="button" class="past-head" aria-expanded={isOpen} onClick={onToggle}>
      <span class="past-signs">
        <OutcomeSign outcome={call.call.outcome} />
        <TierSign tier={call.call.tier} />
      </span>
      <code class="past-title">{call.call.input === undefined ? <i>input not kept</i> : title(call.call)}</code>
      <span class="past-meta">
        {call.ask && <span class={`ended ${call.ask.state}`}>{call.ask.state === "cancelled" ? "withdrawn" : call.ask.state}</span>}
        <span>
          <Said text={call.call.agent} /> · <Said text={call.call.tool} />
        </span>
        <time dateTime={call.at}>{moment(call.at)}</time>
      </span>
    </button>
    {isOpen && (
      <div class="past-body">
        {call.call.input !== undefined && <Command text={isCommand(call.call) ? commandOf(call.call) : JSON.stringify(call.call.input, null, 2)} />}
        <p class="faint">
          {call.call.why && <Said text={call.call.why} />} {call.call.reasons.map((code) => <code class="code" key={code}>{code} </code>)}
        </p>
        {call.ask?.decision && (
          <p>
            {ending(call.ask, call.ask.decision)}, {moment(call.ask.decision.at)}
            {call.ask.decision.feedback && (
              <>
                {" "}
                “<Said text={call.ask.decision.feedback} />”
              </>
            )}
          </p>
        )}
        <p class="faint">
          {call.call.cwd && (
            <>
              in <Said text={call.call.cwd} /> ·{" "}
            </>
          )}
          {call.call.host && (
            <>
              <Said text={call.call.host} /> ·{" "}
            </>
          )}
          {call.call.session && (
            <>
              session <Said text={call.call.session} /> ·{" "}
            </>
          )}
          through <Said text={call.call.door} />
        </p>
        {call.call.input !== undefined && <Why of={call.cursor} load={explainCall(call.cursor)} />}
      </div>
    )}
  </li>
);

export const HistoryPage = () => {
  const [words, setWords] = useState("");
  const [outcome, setOutcome] = useState("");
  const [tier, setTier] = useState("");
  const [agent, setAgent] = useState("");
  const [since, setSince] = useState("");
  const [calls, setCalls] = useState<PastCall[]>();
  const [after, setAfter] = useState<string>();
  const [failure, setFailure] = useState<string>();
  const [open, setOpen] = useState<string>();
  const q = useCalm(words, 250);
  const names = useLoad(() => api.stats(90), []).value?.agents.map((one) => one.agent) ?? [];
  const filter = (): api.HistoryFilter => {
    const back = SINCE.find(([name]) => name === since)?.[2] ?? 0;
    return { q, outcome, tier, agent, ...(back ? { since: new Date(Date.now() - back).toISOString() } : {}) };
  };
  useEffect(() => {
    const abort = new AbortController();
    api.history(filter(), abort.signal).then(
      (page) => {
        setCalls(page.calls);
        setAfter(page.after);
        setFailure(undefined);
      },
      (error: unknown) => !abort.signal.aborted && setFailure(said(error)),
    );
    return () => abort.abort();
  }, [q, outcome, tier, agent, since]);
  const more = () =>
    api.history({ ...filter(), ...(after ? { after } : {}) }).then(
      (page) => {
        setCalls((before) => [...(before ?? []), ...page.calls]);
        setAfter(page.after);
      },
      (error: unknown) => setFailure(said(error)),
    );
  return (
    <div class="page">
      <div class="page-head">
        <h1>History</h1>
      </div>
      <div class="filters" role="search">
        <input type="search" class="grow" placeholder="search commands, tools, directories" aria-label="search" value={words} onInput={(event) => setWords(event.currentTarget.value)} />
        <select aria-label="outcome" value={outcome} onChange={(event) => setOutcome(event.currentTarget.value)}>
          <option value="">any outcome</option>
          <option value="allow">allowed</option>
          <option value="ask">asked</option>
          <option value="deny">denied</option>
        </select>
        <select aria-label="tier" value={tier} onChange={(event) => setTier(event.currentTarget.value)}>
          <option value="">any tier</option>
          {TIERS.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        <select aria-label="time" value={since} onChange={(event) => setSince(event.currentTarget.value)}>
          {SINCE.map(([name, label]) => (
            <option value={name} key={name}>
              {label}
            </option>
          ))}
        </select>
        <select aria-label="agent" value={names.indexOf(agent)} onChange={(event) => setAgent(names[Number(event.currentTarget.value)] ?? "")}>
          <option value={-1}>any agent</option>
          {names.map((name, index) => (
            <option value={index} key={name}>
              {line(name)}
            </option>
          ))}
        </select>
      </div>
      {failure && <Fault message={failure} />}
      {!calls ? (
        !failure && <Loading />
      ) : calls.length === 0 ? (
        <Empty title={q || outcome || tier || agent || since ? "No call fits" : "No call was judged yet"}>
          <p>Every call that agents make is kept here with its verdict.</p>
        </Empty>
      ) : (
        <>
          <ul class="pasts">
            {calls.map((call) => (
              <Past key={call.cursor} call={call} isOpen={open === call.cursor} onToggle={() => setOpen(open === call.cursor ? undefined : call.cursor)} />
            ))}
          </ul>
          {after && (
            <button type="button" onClick={() => void more()}>
              Older calls
            </button>
          )}
        </>
      )}
    </div>
  );
};
