// Grants: what wide approvals left behind, how often each was used, and taking them back.

import { useState } from "preact/hooks";
import * as api from "../api";
import type { PageProps } from "../app";
import { Empty, Fault, Loading, Revoke, Said } from "../chips";
import { said, useChanges, useLoad, useNow } from "../hooks";
import type { Grant } from "../wire";
import { SCOPES, ago, commandOf, count, countdown, moment } from "../words";

/** Whether a grant still counts. */
export const isGood = (grant: Grant, now: number): boolean =>
  grant.revoked_at === undefined && grant.uses_left !== 0 && (grant.expires_at === undefined || Date.parse(grant.expires_at) > now);

const Row = ({ grant, now, onRevoked }: { grant: Grant; now: number; onRevoked: () => void }) => {
  const [failure, setFailure] = useState<string>();
  const revoke = () =>
    api.revokeGrant(grant.id).then(onRevoked, (error: unknown) => setFailure(said(error)));
  const counts = isGood(grant, now);
  return (
    <li class={`row-card ${counts ? "" : "over"}`}>
      <div class="row-main">
        <p class="row-what">
          {grant.rule !== undefined ? (
            <code>
              <Said text={grant.rule} />
            </code>
          ) : (
            <>
              <span class={`outcome ${grant.call?.answer === "reject" ? "deny" : "allow"}`}>{grant.call?.answer === "reject" ? "rejected" : "this very call"}</span>{" "}
              <code>
                <Said text={grant.call ? commandOf(grant.call).slice(0, 300) : ""} />
              </code>
            </>
          )}
        </p>
        <p class="faint">
          {SCOPES[grant.scope]} <Said text={grant.session ?? grant.run ?? ""} /> · owner <Said text={grant.owner} />
          {grant.agent && (
            <>
              {" "}
              · agent <Said text={grant.agent} />
            </>
          )}{" "}
          · made by <Said text={grant.made_by} /> <time title={moment(grant.made_at)}>{ago(grant.made_at, now)}</time>
          {grant.expires_at && counts && ` · ends in ${countdown(Date.parse(grant.expires_at) - now)}`}
          {grant.uses_left !== undefined && ` · ${count(grant.uses_left, "use")} left`}
          {grant.revoked_at && ` · revoked ${ago(grant.revoked_at, now)}`}
          {!counts && !grant.revoked_at && " · ended"}
        </p>
        {failure && <Fault message={failure} />}
      </div>
      <p class="uses">
        <b>{grant.used}</b>
        <span>{grant.used === 1 ? "use" : "uses"}</span>
        {grant.used_at && <span class="faint">{ago(grant.used_at, now)}</span>}
      </p>
      {counts && <Revoke onSure={() => void revoke()} />}
    </li>
  );
};

export const GrantsPage = ({ feed }: PageProps) => {
  const changes = useChanges(feed);
  const now = useNow();
  const [isAll, setAll] = useState(false);
  const { value, failure, again } = useLoad(() => api.grants(isAll), [isAll, changes]);
  const grants = [...(value ?? [])].reverse();
  return (
    <div class="page">
      <div class="page-head">
        <h1>Grants</h1>
        <label class="check">
          <input type="checkbox" checked={isAll} onChange={(event) => setAll(event.currentTarget.checked)} /> also those that have ended
        </label>
      </div>
      <p class="faint">What you approved for longer than once. A revoked grant does not count for the next call.</p>
      {failure && <Fault message={failure} again={again} />}
      {!value ? (
        !failure && <Loading />
      ) : grants.length === 0 ? (
        <Empty title="Nothing is granted">
          <p>Approve a call for a session or always, and what that stores appears here.</p>
        </Empty>
      ) : (
        <ul class="rows">
          {grants.map((grant) => (
            <Row key={grant.id} grant={grant} now={now} onRevoked={again} />
          ))}
        </ul>
      )}
    </div>
  );
};
