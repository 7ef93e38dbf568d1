import { html } from "./html.ts";
import { PAGE_POLICY, renderPage } from "./page.ts";

/** {@link PAGE_POLICY} plus our own scripts. */
export const WELCOME_PAGE_POLICY = `${PAGE_POLICY}; script-src 'self'`;

/** Where the page is served, and its script with the files that it imports; empty if it is not available. */
export interface WelcomePageFrame {
  readonly basePath: string;
  readonly scripts: readonly string[];
}

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
export function renderWelcomePage(frame: WelcomePageFrame, model: WelcomePageModel): string {
  const { basePath } = frame;
  const { token, name, email, signedInAs, problem } = model;
  const isWrong = problem !== undefined;
  return renderScripted(
    frame,
    isWrong ? "Error: Welcome to Larder" : "Welcome to Larder",
    html`<div class="card narrow" data-base-path="${basePath}">
<h1>Welcome to Larder, ${name}</h1>
<p>Your account is ready. Choose a password to sign in.</p>
${signedInAs !== undefined && html`<p class="notice">In this browser, <strong>${signedInAs}</strong> is signed in. If you continue, this browser is signed in as <strong>${email}</strong> instead.</p>`}
<form method="post" action="${basePath}/welcome" data-welcome>
<input type="hidden" name="token" value="${token}">
<div class="field">
<label for="email">Email</label>
<input id="email" name="email" type="email" value="${email}" autocomplete="username" readonly aria-describedby="email-hint">
<p class="hint" id="email-hint">You sign in with this address.</p>
</div>
<div class="field">
<label for="password">Password</label>
<span class="revealed"><input id="password" name="password" type="password" autocomplete="new-password" autocapitalize="off" spellcheck="false" required minlength="8" maxlength="256" autofocus${isWrong && html` aria-invalid="true"`} aria-describedby="password-hint${isWrong && html` password-wrong`}"><button class="button quiet small" type="button" data-reveal aria-label="Show password" aria-controls="password" hidden>Show</button></span>
${isWrong && html`<p class="wrong" id="password-wrong" role="alert">${problem}</p>`}
<div class="strength" data-strength="0" hidden><span aria-hidden="true"></span><p class="hint" aria-live="polite"></p></div>
<p class="hint" id="password-hint">Use at least 8 characters. A few unrelated words make a strong password.</p>
</div>
<button class="button full" type="submit">Start using Larder</button>
</form>
</div>`,
  );
}

/** The page after the password is set. @param model `isSignedIn` if the response also signs the person in */
export function renderWelcomeDonePage(
  frame: WelcomePageFrame,
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
  return renderScripted(
    frame,
    "You are signed in",
    html`<div class="card narrow" data-base-path="${basePath}" data-signed-in="${id}">
<h1>You are signed in, ${name}</h1>
<p>Next time, sign in as <strong>${email}</strong> with your new password. The welcome link no longer works.</p>
<p class="actions"><a class="button" href="${basePath}/files">Open your files</a></p>
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

function renderScripted({ basePath, scripts }: WelcomePageFrame, title: string, main: ReturnType<typeof html>): string {
  const [module, ...imports] = scripts;
  if (module === undefined) return renderPage(basePath, title, main);
  return renderPage(
    basePath,
    title,
    main,
    html`${imports.map((path) => html`<link rel="modulepreload" href="${basePath}${path}">\n`)}<script type="module" src="${basePath}${module}"></script>
`,
  );
}
