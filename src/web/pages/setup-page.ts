import { renderEmailField, renderNameAndPassword, titleOfForm } from "./form-field.ts";
import { html, htmlMessage } from "./html.ts";
import { type PageFrame, renderPage } from "./page.ts";
import { renderScriptedPage, type ScriptedPageFrame } from "./scripted-page.ts";
import { setupTexts } from "./text.ts";

const PRESET = html`<code>preset = "household"</code>`;
const CONFIG_FILE = html`<code>larder.toml</code>`;

/** The fields of the setup form, by the names they are sent with. */
export type SetupField = "email" | "name" | "password" | "use";

/** Who will use the server: one household with high limits, or accounts limited by their plans. */
export type SetupUse = "household" | "accounts";

/**
 * What follows the set-up: a restart with the settings for a household; nothing, because they could not be saved; or
 * nothing, because accounts are limited by plan.
 */
export type AfterSetup = "restarting" | "not_saved" | "accounts";

/** Data for the form: first empty, after a rejection the entered values (never the password) and the problem. */
export interface SetupPageModel {
  /** The one-time token of the setup link; the form sends it back in the field `token`. */
  readonly token: string;
  readonly email?: string;
  readonly name?: string;
  readonly use?: SetupUse;
  /** The problem as a sentence; `field` is undefined if it concerns no single field. */
  readonly problem?: { readonly field: SetupField | undefined; readonly message: string };
}

/**
 * The page for the one-time setup link: a form that creates the first administrator. It sends `token`, `email`, `name`,
 * `password` and `use` by POST to `/setup` as `application/x-www-form-urlencoded`, and works without script. The script is
 * for the next page: when the browser shows that page, the server may not respond.
 */
export function renderSetupPage(frame: ScriptedPageFrame, model: SetupPageModel): string {
  const { basePath, language } = frame;
  const { problem } = model;
  const text = setupTexts(language);
  const use = model.use ?? "household";
  return renderScriptedPage(
    frame,
    titleOfForm(language, text.title, problem),
    html`<div class="card narrow">
<h1>${text.welcome}</h1>
<p>${text.lead}</p>
${problem !== undefined && problem.field === undefined && html`<p class="notice" role="alert">${problem.message}</p>`}
<form method="post" action="${basePath}/setup">
<input type="hidden" name="token" value="${model.token}">
${renderEmailField(language, problem, model.email)}
${renderNameAndPassword(language, problem, model.name)}
<fieldset>
<legend>${text.use}</legend>
<label class="choice"><input type="radio" name="use" value="household"${use === "household" && html` checked`}><span><strong>${text.household}</strong><span>${text.householdHint}</span></span></label>
<label class="choice"><input type="radio" name="use" value="accounts"${use === "accounts" && html` checked`}><span><strong>${text.accounts}</strong><span>${text.accountsHint}</span></span></label>
${problem?.field === "use" && html`<p class="wrong" role="alert">${problem.message}</p>`}
</fieldset>
<button class="button" type="submit">${text.create}</button>
</form>
</div>`,
  );
}

/**
 * The page after the first administrator is created; the response also signs them in. If the server restarts, the script
 * opens pages only after that.
 */
export function renderSetupDonePage(frame: ScriptedPageFrame, email: string, next: AfterSetup): string {
  const { basePath, language } = frame;
  const text = setupTexts(language);
  return renderScriptedPage(
    frame,
    text.welcome,
    html`<div class="card narrow">
<h1>${text.welcome}</h1>
<p>${htmlMessage(text.done, { email: html`<strong>${email}</strong>` })}</p>
${next === "not_saved" && html`<p class="notice" role="alert">${htmlMessage(text.notSaved, { setting: PRESET, file: CONFIG_FILE })}</p>`}
${next === "restarting" && html`<p role="status" data-base-path="${basePath}" data-restarting="${text.restarting}" data-restarted="${text.restarted}" data-late="${text.restartLate}">${text.restartHint}</p>`}
<p class="actions"><a class="button" href="${basePath}/home">${text.open}</a></p>
<h2>${text.nextSteps}</h2>
<ul class="steps">
<li><a href="${basePath}/settings/security">${text.protect}</a><br>${text.protectHint}</li>
<li>${next === "restarting" ? html`<a href="${basePath}/admin/users">${text.add}</a><br>${text.addHint}` : html`<a href="${basePath}/admin/invites">${text.invite}</a><br>${text.inviteHint}`}</li>
<li><a href="${basePath}/settings/connect">${text.connect}</a><br>${text.connectHint}</li>
</ul>
</div>`,
  );
}

/** The page for a setup link that is used, expired or unknown (404). */
export function renderSetupGonePage(frame: PageFrame): string {
  const text = setupTexts(frame.language);
  return renderPage(
    frame,
    text.gone,
    html`<div class="card narrow">
<h1>${text.gone}</h1>
<p>${text.goneLead}</p>
<p><code>larder user setup-link</code></p>
<p class="actions"><a class="button second" href="${frame.basePath}/sign-in">${text.toSignIn}</a></p>
</div>`,
  );
}
