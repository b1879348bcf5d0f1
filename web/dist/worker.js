// Opens the inbox from a notification. It keeps nothing and answers no request.
"use strict";
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const open = async () => {
    const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
    return windows.length > 0 ? windows[0].focus() : self.clients.openWindow("/");
  };
  event.waitUntil(open());
});
