import { titleOfForm } from "./form-field.ts";
import { html } from "./html.ts";
import { type PageFrame, renderPage } from "./page.ts";
import { resetTexts } from "./text.ts";

/**
 * The page for a password reset link: a form that works without script. It sends `token`, `newPassword` and, if the box
 * is checked, `endKeys` by POST to `/reset-password` as `application/x-www-form-urlencoded`.
 * @param sent after a rejection: the problem with the password, and whether the box was checked
 */
export function renderResetPage(
  frame: PageFrame,
  token: string,
  sent?: { readonly message: string; readonly endKeys: boolean },
): string {
  const { basePath, language } = frame;
  const text = resetTexts(language);
  const isWrong = sent !== undefined;
  return renderPage(
    frame,
    titleOfForm(language, text.title, sent),
    html`<div class="card narrow">
<h1>${text.title}</h1>
<p>${text.lead}</p>
<form method="post" action="${basePath}/reset-password">
<input type="hidden" name="token" value="${token}">
<div class="field">
<label for="newPassword">${text.password}</label>
<input id="newPassword" name="newPassword" type="password" autocomplete="new-password" required minlength="8" maxlength="256" autofocus${isWrong && html` aria-invalid="true"`} aria-describedby="newPassword-hint${isWrong && html` newPassword-wrong`}">
${isWrong && html`<p class="wrong" id="newPassword-wrong" role="alert">${sent.message}</p>`}
<p class="hint" id="newPassword-hint">${text.passwordHint}</p>
</div>
<div class="field">
<label class="choice"><input type="checkbox" name="endKeys" value="1"${sent?.endKeys === true && html` checked`}><span><strong>${text.endKeys}</strong><span>${text.endKeysHint}</span></span></label>
</div>
<button class="button" type="submit">${text.change}</button>
</form>
</div>`,
  );
}

/** The page after the password is changed. */
export function renderResetDonePage(frame: PageFrame): string {
  const text = resetTexts(frame.language);
  return renderPage(
    frame,
    text.done,
    html`<div class="card narrow">
<h1>${text.done}</h1>
<p>${text.doneLead}</p>
<p class="actions"><a class="button" href="${frame.basePath}/sign-in">${text.toSignIn}</a></p>
</div>`,
  );
}

/** The page for a link that is used, expired or unknown (404). */
export function renderResetGonePage(frame: PageFrame): string {
  const text = resetTexts(frame.language);
  return renderPage(
    frame,
    text.gone,
    html`<div class="card narrow">
<h1>${text.gone}</h1>
<p>${text.goneLead}</p>
<p class="actions"><a class="button second" href="${frame.basePath}/sign-in">${text.toSignIn}</a></p>
</div>`,
  );
}
