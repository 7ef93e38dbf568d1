import { html } from "./html.ts";
import { renderPage } from "./page.ts";

/**
 * The page for a link that confirms an email address. Opening it confirms nothing, because mail scanners open links.
 * The button sends `token` by POST to `/confirm-email` as `application/x-www-form-urlencoded`, without script.
 */
export function renderConfirmEmailPage(basePath: string, token: string, email: string): string {
  return renderPage(
    basePath,
    "Confirm your email address",
    html`<div class="card narrow">
<h1>Confirm your email address</h1>
<p>An account on this server uses <strong>${email}</strong>. Confirm this address only if the account is yours: it can then open files shared with this address.</p>
<form method="post" action="${basePath}/confirm-email">
<input type="hidden" name="token" value="${token}">
<button class="button" type="submit">Confirm email address</button>
</form>
</div>`,
  );
}

/** The page after the address is confirmed. */
export function renderConfirmEmailDonePage(basePath: string, email: string): string {
  return renderPage(
    basePath,
    "Email address confirmed",
    html`<div class="card narrow">
<h1>Email address confirmed</h1>
<p>The account <strong>${email}</strong> can now share files and open files shared with it.</p>
<p class="actions"><a class="button" href="${basePath}/home">Open Larder</a></p>
</div>`,
  );
}

/** The page for a link that is used, expired or unknown (404). */
export function renderConfirmEmailGonePage(basePath: string): string {
  return renderPage(
    basePath,
    "This link does not work",
    html`<div class="card narrow">
<h1>This link does not work</h1>
<p>A confirmation link works once and expires after 24 hours. If you already used it, your address is confirmed. Otherwise, sign in and request a new email.</p>
<p class="actions"><a class="button second" href="${basePath}/home">Open Larder</a></p>
</div>`,
  );
}
