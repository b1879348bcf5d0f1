// Written by `portcullis install opencode`: every tool call asks Portcullis first.
// A call runs only if the hook ends with 0 and prints exactly one document that allows it.
import { spawn } from "node:child_process";

const PROGRAM = @PROGRAM@;
const WORDS = @WORDS@;
const LIMIT_MS = @LIMIT@;

function ask(event, document) {
  return new Promise((resolve, reject) => {
    const words = WORDS.map((word) => (word === "EVENT" ? event : word));
    const child = spawn(PROGRAM, words, { shell: false, stdio: ["pipe", "pipe", "pipe"] });
    const out = [];
    const errors = [];
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error("Portcullis: no answer in time [HOOK_DEADLINE]"));
    }, LIMIT_MS);
    child.stdout.on("data", (chunk) => out.push(chunk));
    child.stderr.on("data", (chunk) => errors.push(chunk));
    child.stdin.on("error", () => {});
    child.on("error", () => {
      clearTimeout(timer);
      reject(new Error("Portcullis: the hook could not be started [HOOK_INTERNAL]"));
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      const text = Buffer.concat(errors).toString("utf8").trim();
      if (code === 0) resolve(Buffer.concat(out).toString("utf8"));
      else reject(new Error(text || "Portcullis: the hook failed [HOOK_INTERNAL]"));
    });
    child.stdin.end(JSON.stringify(document));
  });
}

function read(text) {
  let answer;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new Error("Portcullis: the hook's answer is no document [HOOK_DIALECT]");
  }
  const names = answer && typeof answer === "object" ? Object.keys(answer) : [];
  if (answer?.decision === "deny" && typeof answer.reason === "string" && answer.reason) {
    throw new Error(answer.reason);
  }
  const allows = answer?.decision === "allow" && names.every((name) => name === "decision" || name === "input");
  const input = answer?.input ?? {};
  const fits = answer?.input !== null && typeof input === "object" && !Array.isArray(input);
  if (!allows || !fits) throw new Error("Portcullis: the hook's answer is no document [HOOK_DIALECT]");
  return answer;
}

export const Portcullis = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    const document = {
      hook_event_name: "tool.execute.before",
      tool_name: input.tool,
      tool_input: output.args ?? {},
      session_id: input.sessionID,
      call_id: input.callID,
      cwd: directory,
      raw_input: input,
    };
    const answer = read(await ask("tool.execute.before", document));
    if (answer.input === undefined) return;
    for (const name of Object.keys(output.args ?? {})) delete output.args[name];
    Object.assign(output.args, answer.input);
  },
  "tool.execute.after": async (input, output) => {
    const document = {
      hook_event_name: "tool.execute.after",
      tool_name: input.tool,
      tool_input: input.args ?? {},
      session_id: input.sessionID,
      call_id: input.callID,
      cwd: directory,
    };
    // What only tells must not stop anything.
    await ask("tool.execute.after", document).catch(() => {});
  },
});
