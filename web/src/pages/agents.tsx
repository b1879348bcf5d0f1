// Agents and keys: who may do what, which runs go on, and which browsers are signed in.

import { useState } from "preact/hooks";
import * as api from "../api";
import type { PageProps } from "../app";
import { Empty, Fault, Loading, Revoke, Said } from "../chips";
import { said, useChanges, useLoad, useNow } from "../hooks";
import * as notify from "../notify";
import { line } from "../show";
import type { Key } from "../wire";
import { ago, moment } from "../words";

const NewKey = ({ onMade }: { onMade: () => void }) => {
  const [role, setRole] = useState("agent");
  const [name, setName] = useState("");
  const [made, setMade] = useState<Key>();
  const [failure, setFailure] = useState<string>();
  const make = () =>
    api.makeKey({ role, name: name.trim() }).then(
      (key) => {
        setMade(key);
        setName("");
        setFailure(undefined);
        onMade();
      },
      (error: unknown) => setFailure(said(error)),
    );
  return (
    <div class="new-key">
      <div class="filters">
        <select aria-label="role" value={role} onChange={(event) => setRole(event.currentTarget.value)}>
          {["agent", "approver", "admin"].map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        <input type="text" class="grow" placeholder="name of the new key" aria-label="name of the new key" maxLength={200} value={name} onInput={(event) => setName(event.currentTarget.value)} />
        <button type="button" disabled={name.trim() === ""} onClick={() => void make()}>
          Make a key
        </button>
      </div>
      {failure && <Fault message={failure} />}
      {made?.key && (
        <p class="note" role="status">
          <b>{line(made.name)}</b>: <code class="secret">{made.key}</code>
          <br />
          It is shown this once. Keep it where only its owner reads.
        </p>
      )}
    </div>
  );
};

const KeyRow = ({ of, onRevoked }: { of: Key; onRevoked: () => void }) => {
  const [failure, setFailure] = useState<string>();
  const isOver = of.revoked_at !== undefined || (of.expires_at !== undefined && Date.parse(of.expires_at) < Date.now());
  const revoke = () => api.revokeKey(of.id).then(onRevoked, (error: unknown) => setFailure(said(error)));
  return (
    <li class={`row-card ${isOver ? "over" : ""}`}>
      <div class="row-main">
        <p class="row-what">
          <Said text={of.name} /> <span class={`chip role-${of.role}`}>{of.role}</span>
        </p>
        <p class="faint">
          {of.owners ? `for ${line(of.owners.join(", "))}` : "for every owner"} · made {moment(of.made_at)}
          {of.expires_at && ` · until ${moment(of.expires_at)}`}
          {of.revoked_at && ` · revoked ${moment(of.revoked_at)}`}
        </p>
        {failure && <Fault message={failure} />}
      </div>
      {!isOver && <Revoke onSure={() => void revoke()} />}
    </li>
  );
};

const Browsers = () => {
  const { value, failure, again } = useLoad(api.whoami, []);
  const [link, setLink] = useState<string>();
  const [fault, setFault] = useState<string>();
  const now = useNow();
  const [mayNotify, setMayNotify] = useState(notify.state);
  const out = async (id: string, isThis: boolean) => {
    try {
      if (isThis) {
        await api.logout();
        location.reload();
      } else {
        await api.revokeKey(id);
        again();
      }
    } catch (error) {
      setFault(said(error));
    }
  };
  return (
    <section class="panel" aria-label="browsers">
      <div class="page-head">
        <h2>Browsers that are signed in</h2>
        <span class="gap" />
        <button type="button" onClick={() => void api.newLink().then(({ code }) => setLink(`${location.origin}/#${code}`), (error: unknown) => setFault(said(error)))}>
          Link for another browser
        </button>
      </div>
      {mayNotify === "default" && (
        <p class="faint">
          This browser can tell you about new asks while it is in the background.
          <button type="button" class="quiet" onClick={() => void notify.ask().then(setMayNotify)}>
            Notify me
          </button>
        </p>
      )}
      {link && (
        <p class="note" role="status">
          <code class="secret">{link}</code>
          <br />
          Good once, for ten minutes. Whoever opens it answers asks as you do.
        </p>
      )}
      {(failure ?? fault) && <Fault message={failure ?? fault ?? ""} again={again} />}
      {!value ? (
        !failure && <Loading rows={1} />
      ) : (
        <ul class="rows">
          {value.browsers.map((browser) => (
            <li class="row-card" key={browser.id}>
              <div class="row-main">
                <p class="row-what">
                  <Said text={browser.name} /> {browser.is_this && <span class="chip plain">this one</span>}
                </p>
                <p class="faint">
                  signed in {ago(browser.made_at, now)}
                  {browser.expires_at && ` · until ${moment(browser.expires_at)}`}
                </p>
              </div>
              <button type="button" onClick={() => void out(browser.id, browser.is_this)}>
                Sign out
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
};

export const AgentsPage = ({ feed }: PageProps) => {
  const changes = useChanges(feed);
  const now = useNow();
  const keys = useLoad(api.keys, []);
  const runs = useLoad(api.runs, [changes]);
  const stats = useLoad(() => api.stats(14), []);
  const [isAll, setAll] = useState(false);
  const shown = (keys.value?.keys ?? []).filter((key) => !key.name.startsWith("dashboard-") && (isAll || key.revoked_at === undefined));
  return (
    <div class="page">
      <h1>Agents and keys</h1>
      <Browsers />
      <section class="panel" aria-label="agents">
        <h2>Agents of the last two weeks</h2>
        {stats.failure && <Fault message={stats.failure} again={stats.again} />}
        {stats.value && stats.value.agents.length === 0 && <p class="faint">No agent has called yet. <code>portcullis install</code> connects the agents you use.</p>}
        <ul class="agents">
          {stats.value?.agents.map((agent) => (
            <li key={agent.agent}>
              <Said text={agent.agent} />
              <span class="faint">
                {agent.calls.toLocaleString()} calls, {agent.asks.toLocaleString()} asked
              </span>
              <span class="faint">{agent.calls > 0 ? `${Math.round((1 - agent.asks / agent.calls) * 100)} % without you` : ""}</span>
            </li>
          ))}
        </ul>
      </section>
      {runs.value && runs.value.runs.length > 0 && (
        <section class="panel" aria-label="runs">
          <h2>Runs that go on</h2>
          <ul class="agents">
            {runs.value.runs.map((run) => (
              <li key={run.run}>
                <Said text={run.run} />
                <span class="faint">
                  {run.status} · <Said text={run.owner} />
                  {run.cwd && (
                    <>
                      {" "}
                      · <Said text={run.cwd} />
                    </>
                  )}
                </span>
                <span class="faint">{ago(run.started_at, now)}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section class="panel" aria-label="keys">
        <div class="page-head">
          <h2>Keys</h2>
          <span class="gap" />
          <label class="check">
            <input type="checkbox" checked={isAll} onChange={(event) => setAll(event.currentTarget.checked)} /> also revoked ones
          </label>
        </div>
        <p class="faint">An agent’s key can never decide; an approver answers asks; an admin may do everything.</p>
        <NewKey onMade={keys.again} />
        {keys.failure && <Fault message={keys.failure} again={keys.again} />}
        {!keys.value ? (
          !keys.failure && <Loading rows={2} />
        ) : shown.length === 0 ? (
          <Empty title="No keys" />
        ) : (
          <ul class="rows">
            {shown.map((key) => (
              <KeyRow key={key.id} of={key} onRevoked={keys.again} />
            ))}
          </ul>
        )}
      </section>
    </div>
  );
};
