import { renderEmailField, renderNameAndPassword, titleOfForm } from "./form-field.ts";
import { html, htmlMessage } from "./html.ts";
import { type PageFrame, renderPage } from "./page.ts";
import { renderScriptedPage, type ScriptedPageFrame } from "./scripted-page.ts";
import { inviteTexts } from "./text.ts";

/** The form fields, by the names they are sent with. */
export const INVITE_FIELDS = ["email", "name", "password"] as const;

/** One of {@link INVITE_FIELDS}. */
type InviteField = (typeof INVITE_FIELDS)[number];

/** Data for the form: first empty, after a rejection the entered values (never the password) and the problem. */
export interface InvitePageModel {
  /** The token of the invitation; the form sends it back in the field `token`. */
  readonly token: string;
  /** The only address that can use the invitation; null if the form asks for one. */
  readonly boundTo: string | null;
  readonly email?: string;
  readonly name?: string;
  /** The problem as a sentence; `field` is undefined if it concerns no single field. */
  readonly problem?: { readonly field: InviteField | undefined; readonly message: string };
}

/**
 * The page for an invitation: a form that creates an account. It sends `token`, `email`, `name` and `password` by POST to
 * `/invite` as `application/x-www-form-urlencoded`, and works without script.
 */
export function renderInvitePage(frame: ScriptedPageFrame, model: InvitePageModel): string {
  const { basePath, language } = frame;
  const { problem, boundTo } = model;
  const text = inviteTexts(language);
  return renderScriptedPage(
    frame,
    titleOfForm(language, text.title, problem),
    html`<div class="card narrow">
<h1>${text.heading}</h1>
<p>${text.lead}</p>
${problem !== undefined && problem.field === undefined && html`<p class="notice" role="alert">${problem.message}</p>`}
<form method="post" action="${basePath}/invite" data-new-person>
<input type="hidden" name="token" value="${model.token}">
${renderEmailField(language, problem, model.email, boundTo)}
${renderNameAndPassword(language, problem, model.name)}
<button class="button" type="submit">${text.create}</button>
</form>
</div>`,
  );
}

/** The page after the account is created. @param model `isSignedIn` if the response also signs the account in */
export function renderInviteDonePage(
  frame: PageFrame,
  { email, isSignedIn }: { readonly email: string; readonly isSignedIn: boolean },
): string {
  const { basePath, language } = frame;
  const text = inviteTexts(language);
  const account = { email: html`<strong>${email}</strong>` };
  return renderPage(
    frame,
    text.welcome,
    html`<div class="card narrow">
<h1>${text.welcome}</h1>
<p>${htmlMessage(isSignedIn ? text.doneSignedIn : text.done, account)}</p>
<p class="actions">${isSignedIn ? html`<a class="button" href="${basePath}/home">${text.open}</a>` : html`<a class="button" href="${basePath}/sign-in">${text.signIn}</a>`}</p>
</div>`,
  );
}

/** The page for an invitation that is used, revoked, expired or unknown (404). */
export function renderInviteGonePage(frame: PageFrame): string {
  const text = inviteTexts(frame.language);
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
