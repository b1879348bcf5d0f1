// Notifications, where the browser allows them and the page is not in front.

import { line } from "./show";
import type { Ask } from "./wire";
import { headline } from "./words";

export type Permission = NotificationPermission | "none";

/** What the browser allows; it asks another process for that, so not in every frame. */
export const state = (): Permission => ("Notification" in globalThis ? Notification.permission : "none");

/** Asks the browser for permission. */
export const ask = async (): Promise<Permission> => {
  if (state() === "none") return "none";
  const permission = await Notification.requestPermission();
  if (permission === "granted") void worker();
  return permission;
};

interface TrustedTypes {
  createPolicy: (name: string, rules: { createScriptURL: (url: string) => string }) => { createScriptURL: (url: string) => string };
}

let registration: Promise<ServiceWorkerRegistration | undefined> | undefined;

/** Phones show notifications only through a worker. Its address is the one that is trusted. */
const worker = (): Promise<ServiceWorkerRegistration | undefined> => {
  if (!("serviceWorker" in navigator)) return Promise.resolve(undefined);
  registration ??= (async () => {
    const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
    const url = "/worker.js";
    const policy = trustedTypes?.createPolicy("portcullis", { createScriptURL: () => url });
    return navigator.serviceWorker.register(policy ? policy.createScriptURL(url) : url);
  })().catch(() => undefined);
  return registration;
};

/** What is said about those that wait: one of them, or how many and the worst. The words of a call are escaped as everywhere. */
export const words = (waiting: Ask[]): { heading: string; body: string } | undefined => {
  const [worst] = waiting;
  if (!worst) return undefined;
  const heading = waiting.length === 1 ? `${line(worst.agent)} asks (${worst.verdict.tier})` : `${waiting.length} asks wait, the worst is ${worst.verdict.tier}`;
  return { heading, body: headline(worst).slice(0, 200) };
};

/** Tells that asks wait, the worst first. There is one notification, however many come: a flood wears nobody out. */
export const about = (waiting: () => Ask[]): void => {
  if (!document.hidden || state() !== "granted") return;
  const said = words(waiting());
  if (!said) return;
  const options = { body: said.body, tag: "portcullis", renotify: true, icon: "/icon.svg" };
  newest = said;
  // One after the other, and of those that wait for their turn only the newest.
  turn = turn.then(async () => {
    if (newest !== said) return;
    const known = await worker();
    if (known) await known.showNotification(said.heading, options);
    else new Notification(said.heading, options);
  });
};

let newest: object | undefined;
let turn: Promise<void> = Promise.resolve();

/** Takes the notification away once nothing waits. */
export const over = (): void => {
  if (state() !== "granted") return;
  newest = undefined;
  turn = turn.then(async () => {
    const known = await worker();
    for (const shown of (await known?.getNotifications({ tag: "portcullis" })) ?? []) shown.close();
  });
};
