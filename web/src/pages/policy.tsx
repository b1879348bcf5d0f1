// The policy: what is in force and from which layer, what is wrong with it, its tests, a box to try
// a call in, and the user's file to edit.

import { useEffect, useState } from "preact/hooks";
import * as api from "../api";
import type { PageProps } from "../app";
import { Fault, Loading, OutcomeSign, Said } from "../chips";
import { Command } from "../command";
import { said, useCalm, useChanges, useLoad } from "../hooks";
import { line } from "../show";
import type { Explained, Outcome, Policy } from "../wire";
import { ExplanationView } from "../why";

const OUTCOMES: [Outcome, string][] = [
  ["deny", "deny"],
  ["ask", "ask"],
  ["allow", "allow"],
];

/** A call to try: judged while one types, and nothing is left behind. */
export const TryIt = () => {
  const [command, setCommand] = useState("");
  const [cwd, setCwd] = useState("");
  const [mode, setMode] = useState("");
  const [explained, setExplained] = useState<Explained>();
  const [failure, setFailure] = useState<string>();
  const calm = useCalm(command, 200);
  const place = useCalm(cwd, 200);
  useEffect(() => {
    if (calm.trim() === "") {
      setExplained(undefined);
      setFailure(undefined);
      return undefined;
    }
    const abort = new AbortController();
    api.check({ tool: "Bash", input: { command: calm }, ...(place ? { cwd: place } : {}), ...(mode ? { mode } : {}) }, abort.signal).then(
      (found) => {
        setExplained(found);
        setFailure(undefined);
      },
      (error: unknown) => !abort.signal.aborted && setFailure(said(error)),
    );
    return () => abort.abort();
  }, [calm, place, mode]);
  return (
    <section class="panel" aria-label="try a command">
      <h2>Try it</h2>
      <textarea rows={2} spellcheck={false} placeholder="a command, e.g. git push --force" aria-label="command to try" value={command} onInput={(event) => setCommand(event.currentTarget.value)} />
      <div class="filters">
        <input type="text" class="grow" placeholder="directory, absolute (optional)" aria-label="directory" value={cwd} onInput={(event) => setCwd(event.currentTarget.value)} />
        <select aria-label="mode" value={mode} onChange={(event) => setMode(event.currentTarget.value)}>
          <option value="">mode of the policy</option>
          {["default", "accept-edits", "explore", "bypass", "dont-ask"].map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </div>
      <div aria-live="polite">
        {failure ? (
          <Fault message={failure} />
        ) : explained ? (
          <>
            <Command text={calm} verdict={explained.explanation} label="tried command" />
            <ExplanationView explained={explained} />
          </>
        ) : (
          <p class="faint">The verdict appears while you type. Nothing runs, nothing is stored.</p>
        )}
      </div>
    </section>
  );
};

const Editor = ({ text, onWritten }: { text: string; onWritten: () => void }) => {
  const [draft, setDraft] = useState(text);
  const [state, setState] = useState<{ failure?: string; lint?: { code: string; message: string }[] }>({});
  const [isBusy, setBusy] = useState(false);
  const calm = useCalm(draft, 300);
  useEffect(() => {
    const abort = new AbortController();
    api.checkPolicy(calm, abort.signal).then(
      (found) => setState(found.ok ? { lint: found.lint ?? [] } : { failure: found.error?.message ?? "this is no policy" }),
      (error: unknown) => !abort.signal.aborted && setState({ failure: said(error) }),
    );
    return () => abort.abort();
  }, [calm]);
  const write = () => {
    setBusy(true);
    api.writePolicy(draft).then(
      () => {
        setBusy(false);
        onWritten();
      },
      (error: unknown) => {
        setBusy(false);
        setState({ failure: said(error) });
      },
    );
  };
  return (
    <div class="editor">
      <textarea rows={Math.min(24, draft.split("\n").length + 2)} spellcheck={false} placeholder={'[rules]\nallow = ["Bash(npm run:*)"]'} aria-label="the user's policy file" value={draft} onInput={(event) => setDraft(event.currentTarget.value)} />
      <div aria-live="polite">
        {state.failure ? <Fault message={state.failure} /> : state.lint?.map((warning) => <p class="warning" key={warning.message}>{line(warning.message)}</p>)}
      </div>
      <div class="actions">
        <button type="button" disabled={draft === text} onClick={() => setDraft(text)}>
          Undo changes
        </button>
        <button type="button" class="approve" disabled={isBusy || draft === text || state.failure !== undefined || calm !== draft} onClick={write}>
          Write the file
        </button>
      </div>
    </div>
  );
};

const Dials = ({ policy }: { policy: Policy }) => (
  <dl class="dials">
    {(
      [
        ["mode", policy.mode],
        ["destructive", policy.destructive],
        ["sensitive reads", policy.sensitive_reads],
        ["network reads", policy.network_reads],
        ["hopeless", policy.hopeless],
        ["deadline", policy.asks.deadline_s === 0 ? "none" : `${policy.asks.deadline_s} s`],
        ["fallback", policy.asks.fallback],
        ["version", policy.version.slice(0, 8)],
      ] as const
    ).map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>
          <code>{value}</code>
        </dd>
      </div>
    ))}
  </dl>
);

export const PolicyPage = ({ feed }: PageProps) => {
  const changes = useChanges(feed);
  const { value: policy, failure, again } = useLoad(api.policy, [changes]);
  if (!policy) {
    return (
      <div class="page">
        <h1>Policy</h1>
        {failure ? <Fault message={failure} again={again} /> : <Loading />}
      </div>
    );
  }
  const failed = policy.tests.filter((test) => !test.passed).length;
  return (
    <div class="page">
      <h1>Policy</h1>
      <TryIt />
      <section class="panel" aria-label="in force">
        <h2>In force</h2>
        <Dials policy={policy} />
        {policy.rules.length === 0 ? (
          <p class="faint">No rule; the mode answers.</p>
        ) : (
          OUTCOMES.map(([outcome]) => {
            const rules = policy.rules.filter((rule) => rule.outcome === outcome);
            return (
              rules.length > 0 && (
                <div class="rule-list" key={outcome}>
                  <h3>
                    <OutcomeSign outcome={outcome} word={outcome} />
                  </h3>
                  <ul>
                    {rules.map((rule, index) => (
                      <li key={index}>
                        <code>
                          <Said text={rule.rule} />
                        </code>
                        <span class="chip plain">{rule.source}</span>
                      </li>
                    ))}
                  </ul>
                </div>
              )
            );
          })
        )}
      </section>
      {(policy.lint.length > 0 || policy.warnings.length > 0) && (
        <section class="panel" aria-label="lint">
          <h2>Worth a look</h2>
          <ul class="reasons">
            {[...policy.lint.map((one) => `${one.message} (${one.source})`), ...policy.warnings].map((message) => (
              <li key={message}>
                <Said text={message} />
              </li>
            ))}
          </ul>
        </section>
      )}
      <section class="panel" aria-label="tests">
        <h2>Tests</h2>
        {policy.tests.length === 0 ? (
          <p class="faint">The files hold no tests; a <code>[[test]]</code> says what a command must come to.</p>
        ) : (
          <>
            <p class="faint">{failed === 0 ? policy.tests.length === 1 ? "It holds." : `All ${policy.tests.length} hold.` : `${failed} of ${policy.tests.length} fail.`}</p>
            <ul class="tests">
              {policy.tests.map((test, index) => (
                <li key={index} class={test.passed ? "passed" : "failed"}>
                  <span class="mark">{test.passed ? "holds" : "fails"}</span>
                  <code>
                    <Said text={test.case} />
                  </code>
                  <span class="faint">
                    wants {test.wanted}
                    {!test.passed && `, gets ${test.got}`}
                  </span>
                </li>
              ))}
            </ul>
          </>
        )}
      </section>
      <section class="panel" aria-label="layers">
        <h2>Layers</h2>
        {policy.layers.length === 0 && <p class="faint">There is no policy file; the built-in policy answers.</p>}
        {policy.layers.map((layer) => (
          <details key={layer.path}>
            <summary>
              {layer.source} <code><Said text={layer.path} /></code>
            </summary>
            {(layer.left_out?.length ?? 0) > 0 && <p class="warning">Nobody has trusted this file: {line(layer.left_out?.join(", ") ?? "")} do not count.</p>}
            {layer.source === "user" ? <Editor key={layer.text} text={layer.text} onWritten={again} /> : <Command text={layer.text} label="policy file" />}
          </details>
        ))}
        {!policy.layers.some((layer) => layer.source === "user") && (
          <details>
            <summary>
              user <span class="faint">no file yet; what you write here becomes it</span>
            </summary>
            <Editor text="" onWritten={again} />
          </details>
        )}
      </section>
    </div>
  );
};
