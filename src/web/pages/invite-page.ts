import { renderEmailField, renderNameAndPassword } from "./form-field.ts";
import { html } from "./html.ts";
import { renderPage } from "./page.ts";
import { renderScriptedPage, type ScriptedPageFrame } from "./scripted-page.ts";

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
  const { basePath } = frame;
  const { problem, boundTo } = model;
  return renderScriptedPage(
    frame,
    problem === undefined ? "Your invitation" : "Error: Your invitation",
    html`<div class="card narrow">
<h1>You are invited</h1>
<p>Create your account to store your files on this Larder server.</p>
${problem !== undefined && problem.field === undefined && html`<p class="notice" role="alert">${problem.message}</p>`}
<form method="post" action="${basePath}/invite" data-new-person>
<input type="hidden" name="token" value="${model.token}">
${renderEmailField(problem, model.email, boundTo)}
${renderNameAndPassword(problem, model.name)}
<button class="button" type="submit">Create account</button>
</form>
</div>`,
  );
}

/** The page after the account is created. @param model `isSignedIn` if the response also signs the account in */
export function renderInviteDonePage(
  basePath: string,
  { email, isSignedIn }: { readonly email: string; readonly isSignedIn: boolean },
): string {
  return renderPage(
    basePath,
    "Welcome to Larder",
    html`<div class="card narrow">
<h1>Welcome to Larder</h1>
<p>You created the account <strong>${email}</strong>${isSignedIn && " and are signed in"}. The invitation no longer works.</p>
<p class="actions">${isSignedIn ? html`<a class="button" href="${basePath}/home">Open Larder</a>` : html`<a class="button" href="${basePath}/sign-in">Sign in</a>`}</p>
</div>`,
  );
}

/** The page for an invitation that is used, revoked, expired or unknown (404). */
export function renderInviteGonePage(basePath: string): string {
  return renderPage(
    basePath,
    "This invitation does not work",
    html`<div class="card narrow">
<h1>This invitation does not work</h1>
<p>It has expired, was already used, or was revoked. Ask the person who invited you for a new one.</p>
<p class="actions"><a class="button second" href="${basePath}/sign-in">Go to sign-in</a></p>
</div>`,
  );
}
