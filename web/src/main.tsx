// The beginning: signs in if the address has a code, then connects.

import { render } from "preact";
import { App, signIn } from "./app";
import { Feed } from "./feed";

const start = async (): Promise<void> => {
  const place = document.getElementById("app");
  if (!place) return;
  const feed = new Feed();
  const failure = await signIn();
  render(<App feed={feed} failure={failure} />, place);
  feed.start();
};

void start();
