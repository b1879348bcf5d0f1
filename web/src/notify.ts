// Notifications, where the browser allows them and the page is not in front.

import { line } from "./show";
import type { Ask } from "./wire";
import { title } from "./words";

export type Permission = NotificationPermission | "none";

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

/** Tells about a new ask; the words of the call are escaped as everywhere. */
export const about = (opened: Ask): void => {
  if (state() !== "granted" || !document.hidden) return;
  const heading = `${line(opened.agent)} asks (${opened.verdict.tier})`;
  const options = { body: title(opened.call).slice(0, 200), tag: opened.id, icon: "/icon.svg" };
  void worker().then((known) => {
    if (known) void known.showNotification(heading, options);
    else new Notification(heading, options);
  });
};
