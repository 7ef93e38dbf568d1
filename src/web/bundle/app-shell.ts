import type { ClientFiles } from "./client-files.ts";
import { directionOf } from "../../translations/choose-language.ts";
import { type Html, html, htmlMessage } from "../pages/html.ts";
import { ICON, type PageFrame } from "../pages/page.ts";
import { frameTexts } from "../pages/text.ts";

/** Paths of the pages that the web app renders. `*` stands for the rest of the path. */
export const PAGE_ROUTES = [
  "/",
  "/home",
  "/files",
  "/files/*",
  "/photos",
  "/albums",
  "/albums/:id",
  "/favorites",
  "/photos/places",
  "/search",
  "/shared/by-me",
  "/shared/with-me",
  "/trash",
  "/history",
  "/settings",
  "/settings/:section",
  "/admin",
  "/admin/:section",
  "/connect/:token",
  "/edit/:id",
] as const;

/** The page of the web app that opens without a session. */
export const SIGN_UP_ROUTE = "/sign-up";

/**
 * The document of the web app, sent also to visitors without a session. The service worker caches it from this address,
 * because at the addresses of pages, these visitors get the sign-in page.
 */
export const DOCUMENT_ROUTE = "/app-document";

/** The prefixes of {@link PAGE_ROUTES}: for addresses below them, the service worker sends the cached document. */
export const PAGE_PREFIXES = [...new Set(PAGE_ROUTES.map((route) => route.replace(/\/[*:].*$/, "")))];

/**
 * The content security policy of the web app. Allowed: our own scripts, requests to this server, and content that comes
 * from this server or that the web app creates. Not allowed: inline scripts, inline style elements, eval, content from
 * other servers, and framing.
 */
export const APP_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; " +
  "font-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; frame-src 'self' blob:; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Colors for the browser's toolbar: the background colors of `styles/app.css`. */
export const THEME_COLORS = { light: "#f7f6f2", dark: "#14171a" } as const;

/** The modules that the files page needs before it can be used: the start, the web app, and the page itself. */
const FIRST_MODULES = ["start.ts", "main.tsx", "features/browse/files-page.tsx"];

/** Addresses of the scripts that the files page needs before it can be used, below the base path. */
export function firstScripts(files: ClientFiles): string[] {
  return [...new Set(FIRST_MODULES.flatMap((module) => files.loadsOf(module)))];
}

/** The first API requests of every page, if a person is signed in. */
const SESSION_DATA = ["/api/auth/session", "/api/users/profile"];

/** Further API requests that a page needs for its first view, and its scripts, by its path. They load in parallel. */
const FIRST_NEEDS: Readonly<Record<string, { readonly data: readonly string[]; readonly modules: readonly string[] }>> =
  {
    "/photos": {
      data: ["/api/photos/timeline", "/api/photos/aspects?limit=500", "/api/photos?limit=30"],
      modules: ["main.tsx", "features/photos/photos-page.tsx"],
    },
  };

/**
 * The only document of the web app. It shows a frame until its scripts render the page.
 * @param route the page that a signed-in person has requested, `""` if it needs only the session at first; undefined for
 *   visitors, and where it is not known
 */
export function renderAppShell(frame: PageFrame, files: ClientFiles, route?: string): string {
  const { basePath, language } = frame;
  const [style] = files.loadsOf("start.css");
  // Only what `start.ts` imports statically. It imports the web app after the frame is painted, so that the download
  // does not delay the frame.
  const [start, ...imports] = files.loadsOf("start.ts");
  const first = imports.map((path) => html`<link rel="modulepreload" href="${basePath}${path}">\n`);
  const needs = FIRST_NEEDS[route ?? ""];
  // With a low priority, so that they do not delay the frame much.
  const later = (needs?.modules ?? [])
    .flatMap((module) => files.loadsOf(module))
    .filter((path) => path !== start && !imports.includes(path));
  const preloads = [
    ...first,
    ...[...new Set(later)].map(
      (path) => html`<link rel="modulepreload" fetchpriority="low" href="${basePath}${path}">\n`,
    ),
  ];
  // Only with `crossorigin` can the browser use the preloaded responses for fetch(), which sends the session cookie.
  const firstData = route === undefined ? [] : [...SESSION_DATA, ...(needs?.data ?? [])];
  const data = firstData.map((path) => html`<link rel="preload" as="fetch" crossorigin href="${basePath}${path}">\n`);
  return html`<!doctype html>
<html lang="${language}" dir="${directionOf(language)}" data-base-path="${basePath}" data-version="${files.version}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" media="(prefers-color-scheme: light)" content="${THEME_COLORS.light}">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="${THEME_COLORS.dark}">
<meta name="robots" content="noindex">
<meta name="description" content="${frameTexts(language).description}">
<title>Larder</title>
<link rel="stylesheet" href="${basePath}${style}">
${preloads}${data}<link rel="icon" href="${basePath}${ICON.path}">
<link rel="apple-touch-icon" href="${basePath}${files.pathOf("apple-touch-icon.png")}">
<link rel="manifest" href="${basePath}/manifest.webmanifest">
<script type="module" src="${basePath}${start}"></script>
</head>
<body>
<div id="app">${renderFrame(frame)}</div>
</body>
</html>
`.text;
}

/** The frame that is shown until the web app has rendered the page. */
function renderFrame({ basePath, language }: PageFrame): Html {
  const text = frameTexts(language);
  const api = html`<a href="${basePath}/docs">${text.api}</a>`;
  const line = html`<div class="start-line"></div>`;
  return html`<div class="start-frame">
<header class="start-bar"><img src="${basePath}${ICON.path}" alt="" width="28" height="28">Larder</header>
<div class="start-side" aria-hidden="true">${[line, line, line, line, line]}</div>
<main class="start-main"><p class="start-words" role="status">${text.loading}</p>
<noscript><p>${htmlMessage(text.needsScript, { api })}</p></noscript></main>
</div>`;
}
