import { html } from "./html.ts";
import { renderPage } from "./page.ts";

/**
 * The page behind a link that confirms an e-mail address. Opening it confirms nothing, because mail scanners open links:
 * the button does, by POST to `/confirm-email` as `application/x-www-form-urlencoded` with `token`, without script.
 */
export function renderConfirmEmailPage(basePath: string, token: string, email: string): string {
  return renderPage(
    basePath,
    "Confirm your e-mail address",
    html`<div class="card narrow">
<h1>Confirm your address</h1>
<p>An account on this server has the address <strong>${email}</strong>. Confirm it only if the account is yours: what others share with this address opens in that account.</p>
<form method="post" action="${basePath}/confirm-email">
<input type="hidden" name="token" value="${token}">
<button class="button" type="submit">Confirm this address</button>
</form>
</div>`,
  );
}

/** The page after an address was confirmed. */
export function renderConfirmEmailDonePage(basePath: string, email: string): string {
  return renderPage(
    basePath,
    "Your e-mail address is confirmed",
    html`<div class="card narrow">
<h1>Your e-mail address is confirmed</h1>
<p>The account with <strong>${email}</strong> can share files now, and opens what others share with it.</p>
<p class="actions"><a class="button" href="${basePath}/files">Open your files</a></p>
</div>`,
  );
}

/** The page for a link that was used, is too old, or is none (404). */
export function renderConfirmEmailGonePage(basePath: string): string {
  return renderPage(
    basePath,
    "This link does not work",
    html`<div class="card narrow">
<h1>This link does not work</h1>
<p>Such a link works once, for 24 hours, and only for the address that it was sent to. If you used it before, your address is confirmed. Otherwise sign in and have a new mail sent.</p>
<p class="actions"><a class="button second" href="${basePath}/files">Open your files</a></p>
</div>`,
  );
}
