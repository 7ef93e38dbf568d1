import { html } from "./html.ts";
import { renderPage } from "./page.ts";

const TITLES: Readonly<Record<number, string>> = {
  400: "Invalid request",
  401: "Sign in to continue",
  403: "You don't have access",
  404: "Page not found",
  405: "Not supported here",
  410: "No longer available",
  413: "Too large",
  429: "Too many requests",
  503: "Temporarily unavailable",
  507: "Server disk full",
};

/**
 * The error page for browsers (requests outside /api that accept text/html).
 * @param message the message of the error envelope: what happened, then what to do
 */
export function renderErrorPage(basePath: string, status: number, message: string, requestId?: string): string {
  const title = TITLES[status] ?? (status < 500 ? "Request failed" : "Something went wrong");
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
