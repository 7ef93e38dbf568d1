import { html } from "./html.ts";
import { renderPage } from "./page.ts";

/**
 * The page for a password reset link: a form that works without script. It sends `token`, `newPassword` and, if the box
 * is checked, `endKeys` by POST to `/reset-password` as `application/x-www-form-urlencoded`.
 * @param sent after a rejection: the problem with the password, and whether the box was checked
 */
export function renderResetPage(
  basePath: string,
  token: string,
  sent?: { readonly message: string; readonly endKeys: boolean },
): string {
  const isWrong = sent !== undefined;
  return renderPage(
    basePath,
    isWrong ? "Error: Choose a new password" : "Choose a new password",
    html`<div class="card narrow">
<h1>Choose a new password</h1>
<p>You will be signed out in all browsers and on registered devices. Programs with an app password stay connected, unless you end those too.</p>
<form method="post" action="${basePath}/reset-password">
<input type="hidden" name="token" value="${token}">
<div class="field">
<label for="newPassword">New password</label>
<input id="newPassword" name="newPassword" type="password" autocomplete="new-password" required minlength="8" maxlength="256" autofocus${isWrong && html` aria-invalid="true"`} aria-describedby="newPassword-hint${isWrong && html` newPassword-wrong`}">
${isWrong && html`<p class="wrong" id="newPassword-wrong" role="alert">${sent.message}</p>`}
<p class="hint" id="newPassword-hint">Use at least 8 characters. A few unrelated words make a strong password.</p>
</div>
<div class="field">
<label class="choice"><input type="checkbox" name="endKeys" value="1"${sent?.endKeys === true && html` checked`}><span><strong>End all API keys and app passwords</strong><span>Select this if someone else might know your password. Phones and programs that use them must be connected again.</span></span></label>
</div>
<button class="button" type="submit">Change password</button>
</form>
</div>`,
  );
}

/** The page after the password is changed. */
export function renderResetDonePage(basePath: string): string {
  return renderPage(
    basePath,
    "Password changed",
    html`<div class="card narrow">
<h1>Password changed</h1>
<p>Sign in again with your new password on each device. Passkeys and two-factor authentication did not change. Check your passkeys, API keys, and app passwords in Settings.</p>
<p class="actions"><a class="button" href="${basePath}/sign-in">Go to sign-in</a></p>
</div>`,
  );
}

/** The page for a link that is used, expired or unknown (404). */
export function renderResetGonePage(basePath: string): string {
  return renderPage(
    basePath,
    "This link does not work",
    html`<div class="card narrow">
<h1>This link does not work</h1>
<p>A reset link works once and expires after 30 minutes. Only the newest link works. Request a new link, or contact your administrator.</p>
<p class="actions"><a class="button second" href="${basePath}/sign-in">Go to sign-in</a></p>
</div>`,
  );
}
