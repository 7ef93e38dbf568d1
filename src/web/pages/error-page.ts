import { html } from "./html.ts";
import { type PageFrame, renderPage } from "./page.ts";
import { errorTexts } from "./text.ts";

/**
 * The error page for browsers (requests outside /api that accept text/html).
 * @param message the message of the error envelope: what happened, then what to do
 */
export function renderErrorPage(frame: PageFrame, status: number, message: string): string {
  const text = errorTexts(frame.language);
  const title = text.titles(String(status), text.titles(status < 500 ? "rejected" : "failed"));
  return renderPage(
    frame,
    title,
    html`<div class="card narrow">
<h1>${title}</h1>
<p>${message}</p>
<p class="quiet">${text.status({ status: String(status) })}</p>
<p class="actions">${status === 401 && html`<a class="button" href="${frame.basePath}/sign-in">${text.signIn}</a>`}<a class="button second" href="${frame.basePath}/files">${text.toFiles}</a></p>
</div>`,
  );
}
