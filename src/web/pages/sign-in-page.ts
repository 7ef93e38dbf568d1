import { html } from "./html.ts";
import { type PageFrame, renderPage } from "./page.ts";
import { providerTexts } from "./text.ts";

/**
 * The page for a failed sign-in with an identity provider.
 * @param message what happened, then what to do
 */
export function renderSignInFailedPage(frame: PageFrame, message: string): string {
  const { basePath, language } = frame;
  const text = providerTexts(language);
  return renderPage(
    frame,
    text.failed,
    html`<div class="card narrow">
<h1>${text.failed}</h1>
<p>${message}</p>
<p class="actions"><a class="button" href="${basePath}/api/auth/oidc/start">${text.again}</a> <a class="button second" href="${basePath}/sign-in">${text.back}</a></p>
</div>`,
  );
}

/** The page that shows a code to enter in the app that started the sign-in. */
export function renderSignInCodePage(frame: PageFrame, code: string, minutes: number): string {
  const text = providerTexts(frame.language);
  return renderPage(
    frame,
    text.code,
    html`<div class="card narrow">
<h1>${text.code}</h1>
<p>${text.codeLead({ minutes })}</p>
<p><code>${code}</code></p>
</div>`,
  );
}

/** The page after the provider has confirmed a session, in its own window. */
export function renderConfirmedPage(frame: PageFrame): string {
  const text = providerTexts(frame.language);
  return renderPage(
    frame,
    text.confirmed,
    html`<div class="card narrow">
<h1>${text.confirmed}</h1>
<p>${text.confirmedLead}</p>
</div>`,
  );
}
