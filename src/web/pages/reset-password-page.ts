import { html } from "./html.ts";
import { renderPage } from "./page.ts";

/**
 * The page behind a link for a new password: a form that works without script, sent by POST to `/reset-password` as
 * `application/x-www-form-urlencoded` with `token`, `newPassword` and, where the box is ticked, `endKeys`.
 * @param sent what was wrong with the password that was sent, and whether the box was ticked
 */
export function renderResetPage(
  basePath: string,
  token: string,
  sent?: { readonly message: string; readonly endKeys: boolean },
): string {
  const isWrong = sent !== undefined;
  return renderPage(
    basePath,
    isWrong ? "Please correct: Choose a new password" : "Choose a new password",
    html`<div class="card narrow">
<h1>Choose a new password</h1>
<p>Everything that is signed in to your account now, phones included, will have to sign in again.</p>
<form method="post" action="${basePath}/reset-password">
<input type="hidden" name="token" value="${token}">
<div class="field">
<label for="newPassword">New password</label>
<input id="newPassword" name="newPassword" type="password" autocomplete="new-password" required minlength="8" maxlength="256" autofocus${isWrong && html` aria-invalid="true"`} aria-describedby="newPassword-hint${isWrong && html` newPassword-wrong`}">
${isWrong && html`<p class="wrong" id="newPassword-wrong" role="alert">${sent.message}</p>`}
<p class="hint" id="newPassword-hint">At least 8 characters. Several unrelated words make a good one.</p>
</div>
<div class="field">
<label class="choice"><input type="checkbox" name="endKeys" value="1"${sent?.endKeys === true && html` checked`}><span><strong>End all API keys too</strong><span>If somebody else may have had your password.</span></span></label>
</div>
<button class="button" type="submit">Set the password</button>
</form>
</div>`,
  );
}

/** The page after a new password was set. */
export function renderResetDonePage(basePath: string): string {
  return renderPage(
    basePath,
    "Your password was changed",
    html`<div class="card narrow">
<h1>Your password was changed</h1>
<p>Sign in with the new one, on your phones too. Passkeys and two-factor sign-in stay as they were. Look through your passkeys and API keys in the settings, under Security.</p>
<p class="actions"><a class="button" href="${basePath}/sign-in">Go to sign-in</a></p>
</div>`,
  );
}

/** The page for a link that was used, is over, or is none (404). */
export function renderResetGonePage(basePath: string): string {
  return renderPage(
    basePath,
    "This link does not work",
    html`<div class="card narrow">
<h1>This link does not work</h1>
<p>Such a link works once, for 30 minutes, and only the newest one. Ask for a new one, or turn to whoever runs this server.</p>
<p class="actions"><a class="button second" href="${basePath}/sign-in">Go to sign-in</a></p>
</div>`,
  );
}
