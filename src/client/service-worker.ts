/*
 * The service worker. It caches the application, so that it opens without the server and can show its own message, and
 * it receives files that other apps share, and shows push messages. It never caches API responses or file content.
 * Every address of the application contains the version of its build, so versions are never mixed: a document only
 * refers to files of its own version. The previous version stays cached for pages that are still open.
 */
import { readPush } from "./base/push-message.ts";
import { storeSharedFiles } from "./base/shared-files.ts";

declare const self: ServiceWorkerGlobalScope;

/** The constants that the server writes in front of this script. */
interface Program {
  readonly version: string;
  readonly basePath: string;
  /** Addresses of pages, without the base path: each stands for itself and all addresses below it. */
  readonly pages: readonly string[];
  /** Files to cache at installation, without the base path. */
  readonly files: readonly string[];
}

declare const LARDER: Program;

const { version, basePath, pages, files } = LARDER;
const CACHE_PREFIX = "larder-";
const SHELL = `${basePath}/app-document`;
const SHARE_TARGET = `${basePath}/share-target`;

/** How long to wait for the document from the server if a cached one exists. */
const DOCUMENT_TIMEOUT_MS = 4_000;

/** This version and the one before it, because a page of that version may still be open. */
const VERSIONS_RETAINED = 2;

self.addEventListener("install", (event) => {
  event.waitUntil(install());
});

self.addEventListener("activate", (event) => {
  event.waitUntil(removeOldVersions().then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin !== self.location.origin) return;
  if (request.method === "POST" && url.pathname === SHARE_TARGET) event.respondWith(receiveShared(request));
  if (request.method !== "GET") return;
  if (request.mode === "navigate" && isPage(url.pathname)) event.respondWith(respondWithPage(request));
  if (url.pathname.startsWith(`${basePath}/assets/`)) event.respondWith(respondWithAsset(request));
});

self.addEventListener("push", (event) => {
  const { title, path, ...options } = readPush(event.data?.text());
  const icon = `${basePath}/icon-192.png`;
  const shown = self.registration.showNotification(title, { ...options, icon, data: path });
  event.waitUntil(Promise.all([shown, notifyPages()]));
});

self.addEventListener("pushsubscriptionchange", (event) => {
  if (event instanceof ExtendableEvent) event.waitUntil(renewSubscription());
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const path: unknown = event.notification.data;
  event.waitUntil(openPage(typeof path === "string" ? path : "/files"));
});

/** Open pages fetch the inbox again. */
async function notifyPages(): Promise<void> {
  const tabs = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  for (const tab of tabs) tab.postMessage("notified");
}

/**
 * Subscribes again when the browser has replaced or ended the subscription. Only if the sign-in of this browser has one:
 * after a sign-out, nobody may get the messages of the former person.
 */
async function renewSubscription(): Promise<void> {
  const response = await fetch(`${basePath}/api/users/notifications/config`);
  if (!response.ok) return;
  const { data }: { data: { vapidPublicKey: string; isSubscribed: boolean } } = await response.json();
  if (!data.isSubscribed) return;
  const { pushManager } = self.registration;
  const subscription =
    (await pushManager.getSubscription()) ??
    (await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: data.vapidPublicKey }));
  await fetch(`${basePath}/api/users/push-subscriptions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ pushToken: JSON.stringify(subscription) }),
  });
}

/** Shows a page of this server: the tab that has it already, or a new one, so that no other tab loses its work. */
async function openPage(path: string): Promise<void> {
  const { href } = new URL(basePath + path, self.location.origin);
  const tabs = await self.clients.matchAll({ type: "window" });
  const tab = tabs.find(({ url }) => url === href);
  if (tab === undefined) await self.clients.openWindow(href);
  else await tab.focus();
}

async function install(): Promise<void> {
  const cache = await caches.open(CACHE_PREFIX + version);
  await cache.addAll([SHELL, ...files.map((path) => basePath + path)]);
  // Taking over at once is safe, because every address contains its version.
  await self.skipWaiting();
}

async function removeOldVersions(): Promise<void> {
  const names = (await caches.keys()).filter((name) => name.startsWith(CACHE_PREFIX));
  const old = names.filter((name) => name !== CACHE_PREFIX + version).slice(0, -(VERSIONS_RETAINED - 1));
  await Promise.all(old.map((name) => caches.delete(name)));
}

function isPage(pathname: string): boolean {
  const path = pathname.slice(basePath.length) || "/";
  return pages.some((page) => path === page || (page !== "/" && path.startsWith(`${page}/`)));
}

/** The document from the server; the cached one if the server can't be reached or is slow. */
async function respondWithPage(request: Request): Promise<Response> {
  // Only of this version: without a cache name, the document of the previous version would be found first.
  const cached = await caches.match(SHELL, { cacheName: CACHE_PREFIX + version });
  if (cached === undefined) return fetch(request);
  const fresh = fetch(request);
  const timeout = new Promise<"slow">((resolve) => {
    setTimeout(() => resolve("slow"), DOCUMENT_TIMEOUT_MS);
  });
  try {
    const first = await Promise.race([fresh, timeout]);
    if (first !== "slow") return first;
    // The result is no longer needed, but an unhandled rejection must not be logged.
    fresh.catch(() => undefined);
    return cached;
  } catch {
    return cached;
  }
}

/** From the cache; else from the server, and cached if it belongs to this version. */
async function respondWithAsset(request: Request): Promise<Response> {
  const cached = await caches.match(request);
  if (cached !== undefined) return cached;
  const response = await fetch(request);
  if (response.ok && new URL(request.url).pathname.startsWith(`${basePath}/assets/${version}/`)) {
    const copy = response.clone();
    await caches.open(CACHE_PREFIX + version).then((cache) => cache.put(request, copy));
  }
  return response;
}

/** Stores shared files for the page, which asks where to upload them. */
async function receiveShared(request: Request): Promise<Response> {
  const form = await request.formData();
  const shared = form.getAll("files").filter((value) => value instanceof File);
  const parts = ["title", "text", "url"].map((field) => form.get(field)).filter((value) => typeof value === "string");
  const text = parts.filter((value) => value !== "").join("\n");
  if (shared.length === 0 && text !== "")
    shared.push(new File([`${text}\n`], "Shared text.txt", { type: "text/plain" }));
  await storeSharedFiles(shared);
  return Response.redirect(`${basePath}/files?shared=1`, 303);
}
