import { renderNewPassword, titleOfForm } from "./form-field.ts";
import { html, htmlMessage } from "./html.ts";
import { type PageFrame, renderPage } from "./page.ts";
import { renderScriptedPage, type ScriptedPageFrame } from "./scripted-page.ts";
import { welcomeTexts } from "./text.ts";

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
  const { basePath, language } = frame;
  const { token, name, email, signedInAs, problem } = model;
  const text = welcomeTexts(language);
  const people = { other: html`<strong>${signedInAs}</strong>`, email: html`<strong>${email}</strong>` };
  return renderScriptedPage(
    frame,
    titleOfForm(language, text.title, problem === undefined ? undefined : { message: problem }),
    html`<div class="card narrow" data-base-path="${basePath}">
<h1>${text.heading({ name })}</h1>
<p>${text.lead}</p>
${signedInAs !== undefined && html`<p class="notice">${htmlMessage(text.otherPerson, people)}</p>`}
<form method="post" action="${basePath}/welcome" data-new-person>
<input type="hidden" name="token" value="${token}">
<div class="field">
<label for="email">${text.email}</label>
<input id="email" name="email" type="email" value="${email}" autocomplete="username" readonly aria-describedby="email-hint">
<p class="hint" id="email-hint">${text.emailHint}</p>
</div>
${renderNewPassword(language, problem, { isFocused: true })}
<button class="button full" type="submit">${text.start}</button>
</form>
</div>`,
  );
}

/** The page after the password is set. @param model `isSignedIn` if the response also signs the person in */
export function renderWelcomeDonePage(
  frame: ScriptedPageFrame,
  model: { readonly id: string; readonly name: string; readonly email: string; readonly isSignedIn: boolean },
): string {
  const { basePath, language } = frame;
  const { id, name, email, isSignedIn } = model;
  const text = welcomeTexts(language);
  const account = { email: html`<strong>${email}</strong>` };
  if (!isSignedIn) {
    return renderPage(
      frame,
      text.passwordSet,
      html`<div class="card narrow">
<h1>${text.passwordSet}</h1>
<p>${htmlMessage(text.passwordSetLead, account)}</p>
<p class="actions"><a class="button" href="${basePath}/sign-in">${text.signIn}</a></p>
</div>`,
    );
  }
  return renderScriptedPage(
    frame,
    text.signedIn,
    html`<div class="card narrow" data-base-path="${basePath}" data-signed-in="${id}">
<h1>${text.signedInHeading({ name })}</h1>
<p>${htmlMessage(text.signedInLead, account)}</p>
<p class="actions"><a class="button" href="${basePath}/home">${text.open}</a></p>
<h2>${text.nextSteps}</h2>
<ul class="steps">
<li><a href="${basePath}/settings/connect">${text.connect}</a><br>${text.connectHint}</li>
<li><a href="${basePath}/settings/security">${text.protect}</a><br>${text.protectHint}</li>
</ul>
</div>`,
  );
}

/** The page for a link that is used, ended, expired or unknown (404). */
export function renderWelcomeGonePage(frame: PageFrame): string {
  const text = welcomeTexts(frame.language);
  return renderPage(
    frame,
    text.gone,
    html`<div class="card narrow">
<h1>${text.gone}</h1>
<p>${text.goneLead}</p>
<p class="actions"><a class="button" href="${frame.basePath}/sign-in">${text.toSignIn}</a></p>
</div>`,
  );
}
