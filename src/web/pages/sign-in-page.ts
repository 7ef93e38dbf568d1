import { html } from "./html.ts";
import { renderPage } from "./page.ts";

/**
 * The page for a sign-in by another service that did not work.
 * @param message what happened, then what to do
 */
export function renderSignInFailedPage(basePath: string, message: string): string {
  return renderPage(
    basePath,
    "You are not signed in",
    html`<div class="card narrow">
<h1>You are not signed in</h1>
<p>${message}</p>
<p class="actions"><a class="button" href="${basePath}/api/auth/oidc/start">Try again</a> <a class="button second" href="${basePath}/sign-in">Back to sign-in</a></p>
</div>`,
  );
}

/** The page that shows a code to be typed or copied into the program that asked for the sign-in. */
export function renderSignInCodePage(basePath: string, code: string, minutes: number): string {
  return renderPage(
    basePath,
    "Your code",
    html`<div class="card narrow">
<h1>Your code</h1>
<p>Copy it into the program that you want to sign in to, and tell it to nobody else. It works once, for ${minutes} minutes.</p>
<p><code>${code}</code></p>
</div>`,
  );
}

/** The page after a session was confirmed at the provider, in a window of its own. */
export function renderConfirmedPage(basePath: string): string {
  return renderPage(
    basePath,
    "Confirmed",
    html`<div class="card narrow">
<h1>Confirmed</h1>
<p>Close this window and continue where you were.</p>
</div>`,
  );
}
