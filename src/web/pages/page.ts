import { requestLanguage } from "../../http/language.ts";
import { directionOf } from "../../translations/choose-language.ts";
import { textAsset } from "../bundle/asset.ts";
import { type Html, html } from "./html.ts";
import styleSheet from "../larder.css" with { type: "text" };
import { frameTexts } from "./text.ts";

/** The style sheet of all pages. */
export const STYLE_SHEET = textAsset("larder", "css", "text/css; charset=utf-8", styleSheet);

/** The logo: a jar on a shelf. */
const JAR = html`<path d="M8 3h8v3H8zM8 6c0 1.5-2 2-2 4.5V18a2 2 0 0 0 2 2h8a2 2 0 0 0 2-2v-7.5c0-2.5-2-3-2-4.5M6 12.5h12M3 22.5h18"/>`;

/** The icon for browser tabs. */
export const ICON = textAsset(
  "larder",
  "svg",
  "image/svg+xml",
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#2e9b6f" stroke-width="2" stroke-linecap="round" stroke-linejoin="round">${JAR.text}</svg>`,
);

/**
 * The content security policy of our pages: images, audio, video, style sheets and form targets from this server only.
 * No scripts, nothing from other servers, no framing.
 */
export const PAGE_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; media-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Where a page is served, and for whom. */
export interface PageFrame {
  /** Prefix of all URLs of this server: `""`, or a path such as `/files`. */
  readonly basePath: string;
  /** The language of the page. */
  readonly language: string;
  /** Where its scripts find their texts, below the base path; undefined for English, or for a page without script. */
  readonly texts?: string | undefined;
}

/** The frame of the page that responds to a request. */
export function pageFrame(request: Request, basePath: string): PageFrame {
  return { basePath, language: requestLanguage(request) };
}

/**
 * Renders a complete page.
 * @param head elements for the end of the head; undefined for none
 */
export function renderPage(frame: PageFrame, title: string, main: Html, head?: Html): string {
  const { basePath, language, texts } = frame;
  return html`<!doctype html>
<html lang="${language}" dir="${directionOf(language)}"${texts !== undefined && html` data-texts="${basePath}${texts}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="${basePath}${ICON.path}">
<link rel="stylesheet" href="${basePath}${STYLE_SHEET.path}">
${head}</head>
<body>
<header><a href="${basePath}/">${LOGO}Larder</a></header>
<main>${main}</main>
<footer>${frameTexts(language).footer}</footer>
</body>
</html>
`.text;
}

/** The request headers that the language of a page depends on. */
export const PAGE_VARY = "Accept-Language, Cookie";

/** A page as a response with the headers of every page. `extraHeaders` override them. */
export function pageResponse(
  page: string,
  status = 200,
  extraHeaders: Readonly<Record<string, string>> = {},
): Response {
  return new Response(page, {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      vary: PAGE_VARY,
      "content-security-policy": PAGE_POLICY,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      ...extraHeaders,
    },
  });
}

const LOGO = html`<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${JAR}</svg>`;
