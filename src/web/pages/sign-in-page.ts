import { html } from "./html.ts";
import { renderPage } from "./page.ts";

/**
 * The page for a failed sign-in with an identity provider.
 * @param message what happened, then what to do
 */
export function renderSignInFailedPage(basePath: string, message: string): string {
  return renderPage(
    basePath,
    "Sign-in failed",
    html`<div class="card narrow">
<h1>Sign-in failed</h1>
<p>${message}</p>
<p class="actions"><a class="button" href="${basePath}/api/auth/oidc/start">Try again</a> <a class="button second" href="${basePath}/sign-in">Back to sign-in</a></p>
</div>`,
  );
}

/** The page that shows a code to enter in the app that started the sign-in. */
export function renderSignInCodePage(basePath: string, code: string, minutes: number): string {
  return renderPage(
    basePath,
    "Your sign-in code",
    html`<div class="card narrow">
<h1>Your sign-in code</h1>
<p>Enter this code in the app you are signing in to. Don't share it. It works once and expires in ${minutes} minutes.</p>
<p><code>${code}</code></p>
</div>`,
  );
}

/** The page after the provider has confirmed a session, in its own window. */
export function renderConfirmedPage(basePath: string): string {
  return renderPage(
    basePath,
    "Identity confirmed",
    html`<div class="card narrow">
<h1>Identity confirmed</h1>
<p>Close this window to continue.</p>
</div>`,
  );
}
