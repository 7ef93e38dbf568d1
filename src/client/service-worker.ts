/*
 * Works between the pages and the network: keeps the program itself, so that it opens without the server and says so in
 * its own words, and takes what other apps share. It never keeps what the API answers, nor any content.
 *
 * Every address of the program carries the version of its build, so nothing is ever mixed: a document names the files of
 * its own version, and the version before stays kept for pages that are still open.
 */
import { storeSharedFiles } from "./base/shared-files.ts";

declare const self: ServiceWorkerGlobalScope;

/** What the server writes before this script. */
interface Program {
  readonly version: string;
  readonly basePath: string;
  /** Addresses of the document of every page, without the base path: itself, or all below it. */
  readonly pages: readonly string[];
  /** Files that are kept from the beginning, without the base path. */
  readonly files: readonly string[];
}

declare const LARDER: Program;

const { version, basePath, pages, files } = LARDER;
const CACHE_PREFIX = "larder-";
const SHELL = `${basePath}/files`;
const SHARE_TARGET = `${basePath}/share-target`;

/** How long the document of a page is waited for where an earlier one is at hand. */
const DOCUMENT_TIMEOUT_MS = 4_000;

/** This version and the one before it: a page of that one may still be open. */
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

async function install(): Promise<void> {
  const cache = await caches.open(CACHE_PREFIX + version);
  await cache.addAll([SHELL, ...files.map((path) => basePath + path)]);
  // Nothing is mixed by taking over at once: see the head of this file.
  await self.skipWaiting();
}

async function removeOldVersions(): Promise<void> {
  const kept = (await caches.keys()).filter((name) => name.startsWith(CACHE_PREFIX));
  const old = kept.filter((name) => name !== CACHE_PREFIX + version).slice(0, -(VERSIONS_RETAINED - 1));
  await Promise.all(old.map((name) => caches.delete(name)));
}

function isPage(pathname: string): boolean {
  const path = pathname.slice(basePath.length) || "/";
  return pages.some((page) => path === page || (page !== "/" && path.startsWith(`${page}/`)));
}

/** The document from the server; the one that is kept where the server can't be reached or is slow. */
async function respondWithPage(request: Request): Promise<Response> {
  // Of this version: one of an earlier version, still kept for pages that are open, would be found first.
  const cached = await caches.match(SHELL, { cacheName: CACHE_PREFIX + version });
  if (cached === undefined) return fetch(request);
  const fresh = fetch(request);
  const timeout = new Promise<"slow">((resolve) => {
    setTimeout(() => resolve("slow"), DOCUMENT_TIMEOUT_MS);
  });
  try {
    const first = await Promise.race([fresh, timeout]);
    if (first !== "slow") return first;
    // Whatever becomes of it, nobody waits for it any more.
    fresh.catch(() => undefined);
    return cached;
  } catch {
    return cached;
  }
}

/** From what is kept; else from the server, and kept where it belongs to this version. */
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

/** What another app shares is kept for the page, which asks where to put it. */
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
