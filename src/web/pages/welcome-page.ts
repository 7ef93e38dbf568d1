import { renderNewPassword } from "./form-field.ts";
import { html } from "./html.ts";
import { renderPage } from "./page.ts";
import { renderScriptedPage, type ScriptedPageFrame } from "./scripted-page.ts";

/** Data for the form. */
export interface WelcomePageModel {
  /** The token of the link; the form sends it back in the field `token`. */
  readonly token: string;
  readonly name: string;
  readonly email: string;
  /** The other person who is signed in in this browser. */
  readonly signedInAs: string | undefined;
  /** The problem with the password that was sent. */
  readonly problem?: string;
}

/**
 * The first page of a new person: a form that works without script. It sends `token` and `password` by POST to
 * `/welcome` as `application/x-www-form-urlencoded`. The script shows how strong the password is.
 */
export function renderWelcomePage(frame: ScriptedPageFrame, model: WelcomePageModel): string {
  const { basePath } = frame;
  const { token, name, email, signedInAs, problem } = model;
  const isWrong = problem !== undefined;
  return renderScriptedPage(
    frame,
    isWrong ? "Error: Welcome to Larder" : "Welcome to Larder",
    html`<div class="card narrow" data-base-path="${basePath}">
<h1>Welcome to Larder, ${name}</h1>
<p>Your account is ready. Choose a password to sign in.</p>
${signedInAs !== undefined && html`<p class="notice">In this browser, <strong>${signedInAs}</strong> is signed in. If you continue, this browser is signed in as <strong>${email}</strong> instead.</p>`}
<form method="post" action="${basePath}/welcome" data-new-person>
<input type="hidden" name="token" value="${token}">
<div class="field">
<label for="email">Email</label>
<input id="email" name="email" type="email" value="${email}" autocomplete="username" readonly aria-describedby="email-hint">
<p class="hint" id="email-hint">You sign in with this address.</p>
</div>
${renderNewPassword(problem, { isFocused: true })}
<button class="button full" type="submit">Start using Larder</button>
</form>
</div>`,
  );
}

/** The page after the password is set. @param model `isSignedIn` if the response also signs the person in */
export function renderWelcomeDonePage(
  frame: ScriptedPageFrame,
  model: { readonly id: string; readonly name: string; readonly email: string; readonly isSignedIn: boolean },
): string {
  const { basePath } = frame;
  const { id, name, email, isSignedIn } = model;
  if (!isSignedIn) {
    return renderPage(
      basePath,
      "Your password is set",
      html`<div class="card narrow">
<h1>Your password is set</h1>
<p>Sign in as <strong>${email}</strong> to open your files.</p>
<p class="actions"><a class="button" href="${basePath}/sign-in">Sign in</a></p>
</div>`,
    );
  }
  return renderScriptedPage(
    frame,
    "You are signed in",
    html`<div class="card narrow" data-base-path="${basePath}" data-signed-in="${id}">
<h1>You are signed in, ${name}</h1>
<p>Next time, sign in as <strong>${email}</strong> with your new password. The welcome link no longer works.</p>
<p class="actions"><a class="button" href="${basePath}/home">Open Larder</a></p>
<h2>Next steps</h2>
<ul class="steps">
<li><a href="${basePath}/settings/connect">Connect your phone and computer</a>, to upload your photos and to work with your files.</li>
<li><a href="${basePath}/settings/security">Protect your account</a> with a passkey or an authenticator app.</li>
</ul>
</div>`,
  );
}

/** The page for a link that is used, ended, expired or unknown (404). */
export function renderWelcomeGonePage(basePath: string): string {
  return renderPage(
    basePath,
    "This link does not work",
    html`<div class="card narrow">
<h1>This link does not work</h1>
<p>It works once, for 7 days, and only the newest link works. If you have already chosen a password, sign in. Otherwise, ask the person who added you for a new link.</p>
<p class="actions"><a class="button" href="${basePath}/sign-in">Go to sign-in</a></p>
</div>`,
  );
}
