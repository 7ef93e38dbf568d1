import { html, htmlMessage } from "./html.ts";
import { type PageFrame, renderPage } from "./page.ts";
import { confirmEmailTexts } from "./text.ts";

/**
 * The page for a link that confirms an email address. Opening it confirms nothing, because mail scanners open links.
 * The button sends `token` by POST to `/confirm-email` as `application/x-www-form-urlencoded`, without script.
 */
export function renderConfirmEmailPage(frame: PageFrame, token: string, email: string): string {
  const text = confirmEmailTexts(frame.language);
  return renderPage(
    frame,
    text.title,
    html`<div class="card narrow">
<h1>${text.title}</h1>
<p>${htmlMessage(text.lead, { email: html`<strong>${email}</strong>` })}</p>
<form method="post" action="${frame.basePath}/confirm-email">
<input type="hidden" name="token" value="${token}">
<button class="button" type="submit">${text.confirm}</button>
</form>
</div>`,
  );
}

/** The page after the address is confirmed. */
export function renderConfirmEmailDonePage(frame: PageFrame, email: string): string {
  const text = confirmEmailTexts(frame.language);
  return renderPage(
    frame,
    text.done,
    html`<div class="card narrow">
<h1>${text.done}</h1>
<p>${htmlMessage(text.doneLead, { email: html`<strong>${email}</strong>` })}</p>
<p class="actions"><a class="button" href="${frame.basePath}/home">${text.open}</a></p>
</div>`,
  );
}

/** The page for a link that is used, expired or unknown (404). */
export function renderConfirmEmailGonePage(frame: PageFrame): string {
  const text = confirmEmailTexts(frame.language);
  return renderPage(
    frame,
    text.gone,
    html`<div class="card narrow">
<h1>${text.gone}</h1>
<p>${text.goneLead}</p>
<p class="actions"><a class="button second" href="${frame.basePath}/home">${text.open}</a></p>
</div>`,
  );
}
