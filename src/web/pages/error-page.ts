import { html } from "./html.ts";
import { renderPage } from "./page.ts";

const TITLES: Readonly<Record<number, string>> = {
  400: "That request was not understood",
  401: "Please sign in first",
  403: "You may not see this",
  404: "There is nothing here",
  405: "That can't be done here",
  410: "This is no longer here",
  413: "That is too large",
  429: "Too many requests",
  503: "Just a moment",
  507: "The disk is full",
};

/**
 * The page for an error, for browsers (requests outside /api that accept text/html).
 * @param message the same words as in the error envelope: what happened, then what to do
 */
export function renderErrorPage(basePath: string, status: number, message: string, requestId?: string): string {
  const title = TITLES[status] ?? (status < 500 ? "That did not work" : "Something went wrong here");
  return renderPage(
    basePath,
    title,
    html`<div class="card narrow">
<h1>${title}</h1>
<p>${message}</p>
<p class="quiet">Status ${status}${requestId !== undefined && html`, request <code>${requestId}</code>`}</p>
<p class="actions">${status === 401 && html`<a class="button" href="${basePath}/sign-in">Sign in</a>`}<a class="button second" href="${basePath}/files">Go to your files</a></p>
</div>`,
  );
}
