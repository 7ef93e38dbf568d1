import { renderEmailField, renderNameAndPassword } from "./form-field.ts";
import { html } from "./html.ts";
import { renderPage } from "./page.ts";

/** The fields of the setup form, by the names they are sent with. */
export type SetupField = "email" | "name" | "password" | "use";

/** Who will use the server: one household with high limits, or accounts limited by their plans. */
export type SetupUse = "household" | "accounts";

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
 * `password` and `use` by POST to `/setup` as `application/x-www-form-urlencoded`, and works without script.
 */
export function renderSetupPage(basePath: string, model: SetupPageModel): string {
  const { problem } = model;
  const use = model.use ?? "household";
  return renderPage(
    basePath,
    problem === undefined ? "Set up Larder" : "Error: Set up Larder",
    html`<div class="card narrow">
<h1>Welcome to Larder</h1>
<p>Create the first account. It will be the administrator of this server.</p>
${problem !== undefined && problem.field === undefined && html`<p class="notice" role="alert">${problem.message}</p>`}
<form method="post" action="${basePath}/setup">
<input type="hidden" name="token" value="${model.token}">
${renderEmailField(problem, model.email)}
${renderNameAndPassword(problem, model.name)}
<fieldset>
<legend>Who will use this server?</legend>
<label class="choice"><input type="radio" name="use" value="household"${use === "household" && html` checked`}><span><strong>One household</strong><span>High limits. People can join only if you add them.</span></span></label>
<label class="choice"><input type="radio" name="use" value="accounts"${use === "accounts" && html` checked`}><span><strong>Anyone, limited by plan</strong><span>Anyone can create an account. Each account's plan limits its storage and requests.</span></span></label>
${problem?.field === "use" && html`<p class="wrong" role="alert">${problem.message}</p>`}
</fieldset>
<button class="button" type="submit">Create account</button>
</form>
</div>`,
  );
}

/** The page after the first administrator is created; the response also signs them in. */
export function renderSetupDonePage(basePath: string, email: string, use: SetupUse): string {
  return renderPage(
    basePath,
    "Welcome to Larder",
    html`<div class="card narrow">
<h1>Welcome to Larder</h1>
<p>You created the administrator account <strong>${email}</strong> and are signed in. The setup link no longer works.</p>
<p class="actions"><a class="button" href="${basePath}/home">Open Larder</a></p>
<h2>Next steps</h2>
<ul class="steps">
<li><a href="${basePath}/settings/security">Protect your account</a> with a passkey or an authenticator app.</li>
<li>${use === "household" ? html`<a href="${basePath}/admin/users">Add other people</a>. Nobody can join unless you add them.` : html`<a href="${basePath}/admin/invites">Invite other people</a>, or let them create their own accounts.`}</li>
<li><a href="${basePath}/settings/connect">Connect your phone and computer</a>. The Nextcloud app on Android or another WebDAV app uploads your photos.</li>
</ul>
</div>`,
  );
}

/** The page for a setup link that is used, expired or unknown (404). */
export function renderSetupGonePage(basePath: string): string {
  return renderPage(
    basePath,
    "This setup link does not work",
    html`<div class="card narrow">
<h1>This setup link does not work</h1>
<p>A setup link works only until the first administrator is created. If that hasn't happened yet, use the newest link from the server's output, or run:</p>
<p><code>larder user setup-link</code></p>
<p class="actions"><a class="button second" href="${basePath}/sign-in">Go to sign-in</a></p>
</div>`,
  );
}
