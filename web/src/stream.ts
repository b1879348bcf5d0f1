// The feed as it comes over the wire: events that a server sends, read by hand, because the
// browser's own reader of them cannot show the page's half of the key.

import { shows } from "./api";

/** What the inbox needs of a stream of events. */
export interface Source {
  onopen: (() => void) | null;
  onerror: (() => void) | null;
  addEventListener: (type: string, hear: (event: Event) => void) => void;
  close: () => void;
}

/** Reads the text of a stream piece by piece; gives every event that is whole. */
export const reader = (hear: (type: string, data: string) => void): ((text: string) => void) => {
  let rest = "";
  let type = "";
  let data: string[] = [];
  return (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines.map((each) => each.replace(/\r$/u, ""))) {
      if (line === "") {
        if (data.length > 0) hear(type || "message", data.join("\n"));
        type = "";
        data = [];
        continue;
      }
      const colon = line.includes(":") ? line.indexOf(":") : line.length;
      const [name, value] = [line.slice(0, colon), line.slice(colon + 1).replace(/^ /u, "")];
      if (name === "event") type = value;
      else if (name === "data") data.push(value);
    }
  };
};

/** A stream of events that goes on until it is closed or lost. */
export class Stream extends EventTarget implements Source {
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  readonly #abort = new AbortController();

  constructor(path: string) {
    super();
    this.#follow(path).catch(() => undefined).finally(() => this.#abort.signal.aborted || this.onerror?.());
  }

  close(): void {
    this.#abort.abort();
  }

  async #follow(path: string): Promise<void> {
    const answer = await fetch(path, { headers: { Accept: "text/event-stream", ...shows() }, cache: "no-store", signal: this.#abort.signal });
    if (!answer.ok || !answer.body) return;
    this.onopen?.();
    const pieces = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    const read = reader((type, data) => this.dispatchEvent(new MessageEvent(type, { data })));
    for (let piece = await pieces.read(); !piece.done; piece = await pieces.read()) read(piece.value);
  }
}
