// The audit: whether the chain is whole, and what stands in it.

import { useEffect, useState } from "preact/hooks";
import * as api from "../api";
import type { PageProps } from "../app";
import { Empty, Fault, Loading, Said } from "../chips";
import { said, useChanges, useLoad } from "../hooks";
import { line } from "../show";
import type { AuditEntry } from "../wire";
import { count, moment } from "../words";

const KINDS = ["call.judged", "ask.opened", "ask.settled", "ask.claimed", "grant.made", "grant.used", "grant.revoked", "policy.changed", "policy.kept", "key.made", "key.revoked", "access.refused", "run.started", "run.ended", "node.started", "node.stopped", "gap.found"];

const ChainState = () => {
  const { value: state, failure, isLoading, again } = useLoad(api.auditState, []);
  if (failure) return <Fault message={failure} again={again} />;
  if (!state) return <Loading rows={1} />;
  const unsigned = state.seq - (state.signed_seq ?? 0);
  return (
    <section class={`panel chain ${state.is_whole ? "whole" : "broken"}`} aria-label="state of the chain">
      <div>
        <h2>{state.is_whole ? (state.is_complete ? "The chain is whole" : "Whole as far as it was checked") : `Entry ${state.broken?.seq} is wrong`}</h2>
        <p>
          {state.is_whole
            ? `${count(state.checked, "entry", "entries")} checked, each follows the one before.`
            : `${line(state.broken?.what ?? "")}. Somebody may have changed the record; \`portcullis audit verify\` says more.`}
        </p>
        <p class="faint">
          {state.signed_at ? `Signed up to entry ${state.signed_seq}, ${moment(state.signed_at)}` : "Not signed yet"}
          {unsigned > 0 && ` · ${count(unsigned, "entry", "entries")} since`} · key <code>{state.key.slice(0, 16)}</code> · node {state.node}
        </p>
        <p class="faint">
          head <code class="hash">{state.hash}</code>
        </p>
      </div>
      <button type="button" disabled={isLoading} onClick={again}>
        {isLoading ? "Checking…" : "Check again"}
      </button>
    </section>
  );
};

const Entry = ({ entry }: { entry: AuditEntry }) => (
  <li>
    <details>
      <summary>
        <span class="seq">{entry.seq}</span>
        <span class="kind">{entry.kind}</span>
        <Said text={entry.actor} />
        <span class="subject">
          <Said text={entry.subject} />
        </span>
        <time dateTime={entry.at}>{moment(entry.at)}</time>
      </summary>
      <pre dir="ltr" tabIndex={0} aria-label="entry">
        <Said text={JSON.stringify(entry.data, null, 2)} />
      </pre>
      <p class="faint">
        hash <code class="hash">{entry.hash}</code>
      </p>
      <p class="faint">
        before <code class="hash">{entry.prev}</code>
      </p>
    </details>
  </li>
);

export const AuditPage = ({ feed }: PageProps) => {
  const changes = useChanges(feed);
  const [kind, setKind] = useState("");
  const [entries, setEntries] = useState<AuditEntry[]>();
  const [after, setAfter] = useState<string>();
  const [failure, setFailure] = useState<string>();
  useEffect(() => {
    let isGone = false;
    api.audit({ ...(kind ? { kind } : {}) }).then(
      (page) => {
        if (isGone) return;
        setEntries(page.entries);
        setAfter(page.after);
        setFailure(undefined);
      },
      (error: unknown) => !isGone && setFailure(said(error)),
    );
    return () => {
      isGone = true;
    };
  }, [kind, changes]);
  const more = () =>
    api.audit({ ...(kind ? { kind } : {}), ...(after ? { before: after } : {}) }).then(
      (page) => {
        setEntries((before) => [...(before ?? []), ...page.entries]);
        setAfter(page.after);
      },
      (error: unknown) => setFailure(said(error)),
    );
  return (
    <div class="page">
      <div class="page-head">
        <h1>Audit</h1>
        <select aria-label="kind of entry" value={kind} onChange={(event) => setKind(event.currentTarget.value)}>
          <option value="">every kind</option>
          {KINDS.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </div>
      <ChainState />
      {failure && <Fault message={failure} />}
      {!entries ? (
        !failure && <Loading />
      ) : entries.length === 0 ? (
        <Empty title="No such entry" />
      ) : (
        <>
          <ol class="entries">
            {entries.map((entry) => (
              <Entry key={`${entry.node} ${entry.seq}`} entry={entry} />
            ))}
          </ol>
          {after && (
            <button type="button" onClick={() => void more()}>
              Older entries
            </button>
          )}
        </>
      )}
    </div>
  );
};
