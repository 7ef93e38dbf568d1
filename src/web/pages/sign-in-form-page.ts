/** The sign-in page. The server renders every step of it, and `src/client/features/sign-in/page.ts` runs it. */
import { type Html, html } from "./html.ts";
import { PAGE_POLICY, renderPage } from "./page.ts";

/** {@link PAGE_POLICY} plus our own scripts and requests to this server. */
export const SIGN_IN_PAGE_POLICY = `${PAGE_POLICY}; script-src 'self'; connect-src 'self'`;

/** The sign-in methods of this server, and what the page needs to offer them. */
export interface SignInPageModel {
  /** Where to go afterwards: a path of this server, below the base path. */
  readonly next: string;
  /** The name of the identity provider; undefined if none is configured. */
  readonly provider: string | undefined;
  readonly hasPasskeys: boolean;
  /** Whether the server can send password reset links. */
  readonly hasMail: boolean;
  readonly signup: "open" | "invite" | "closed";
}

/** The scripts of the page, below the base path. */
export interface SignInPageScripts {
  /** Sets the stored theme. It blocks the first paint, so it is tiny. */
  readonly theme: string;
  /** The module that runs the form, then its imports. */
  readonly module: readonly string[];
}

/**
 * The sign-in page. It needs its script, because signing in takes several steps. Until the script runs, the buttons are
 * disabled: the browser would put the password into the address.
 */
export function renderSignInPage(basePath: string, scripts: SignInPageScripts, model: SignInPageModel): string {
  return renderScripted(
    basePath,
    scripts,
    "Sign in",
    html`<div class="card narrow" data-sign-in data-base-path="${basePath}" data-next="${basePath}${model.next}">
<h1>Sign in</h1>
<noscript><p class="notice">Larder needs JavaScript. Turn it on for this site.</p></noscript>
${renderPasswordStep(basePath, model)}
${renderCodeStep()}
${model.hasMail && renderForgotStep()}
</div>`,
  );
}

/** The page of a server without accounts: where to find the link that creates the first one. */
export function renderNotSetUpPage(basePath: string): string {
  return renderPage(
    basePath,
    "Set up Larder",
    html`<div class="card narrow">
<h1>Set up Larder</h1>
<p>This server has no accounts yet. Open the one-time setup link to create the first one.</p>
<p>The server prints the link when it starts. Look in its output or in the service log. To get a new link, run this command on the server:</p>
<p><code>larder user setup-link</code></p>
<p class="actions"><a class="button" href="${basePath}/sign-in">Continue to sign in</a> <a class="button quiet" href="${basePath}/docs">API documentation</a></p>
</div>`,
  );
}

function renderScripted(basePath: string, scripts: SignInPageScripts, title: string, main: Html): string {
  const [module = "", ...imports] = scripts.module;
  return renderPage(
    basePath,
    title,
    main,
    html`<script src="${basePath}${scripts.theme}"></script>
${imports.map((path) => html`<link rel="modulepreload" href="${basePath}${path}">\n`)}<script type="module" src="${basePath}${module}"></script>
`,
  );
}

function renderPasswordStep(basePath: string, { provider, hasPasskeys, hasMail, signup, next }: SignInPageModel): Html {
  const query = new URLSearchParams({ returnTo: `${basePath}${next}` }).toString();
  return html`<form novalidate>
<div class="field">
<label for="email">Email</label>
<input id="email" name="email" type="email" autocomplete="username${hasPasskeys && " webauthn"}" autofocus>
</div>
<div class="field">
<label for="password">Password</label>
<span class="revealed"><input id="password" name="password" type="password" autocomplete="current-password" autocapitalize="off" spellcheck="false"><button class="button quiet small" type="button" data-reveal aria-label="Show password" aria-pressed="false" aria-controls="password" disabled>Show</button></span>
</div>
<button class="button full" type="submit" disabled>Sign in</button>
${hasMail ? html`<button class="button quiet full" type="button" data-go="forgot" disabled>Forgot your password?</button>` : html`<p class="hint centered">Forgot your password? Ask your administrator for a reset link.</p>`}
<div class="others"${!hasPasskeys && provider === undefined && html` hidden`}>
<p class="or">or</p>
${hasPasskeys && html`<button class="button second full" type="button" data-passkey hidden>Sign in with a passkey</button>`}
${provider !== undefined && html`<a class="button second full" href="${basePath}/api/auth/oidc/start?${query}">Sign in with ${provider}</a>`}
</div>
${signup === "open" && html`<p class="hint centered">No account yet? <a href="${basePath}/sign-up">Create account</a></p>`}
${signup === "invite" && html`<p class="hint centered">No account yet? Ask your administrator for an invitation.</p>`}
</form>`;
}

/**
 * The second step, for accounts with two-factor authentication. A template, like every later step: password managers and screen
 * readers see one form at a time.
 */
function renderCodeStep(): Html {
  return html`<template data-step="code"><form novalidate>
<h2>Two-factor authentication</h2>
<p data-lead>Enter the 6-digit code from your authenticator app.</p>
<div class="field">
<label for="code">Code</label>
<input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" autocapitalize="off" spellcheck="false">
</div>
<button class="button full" type="submit">Sign in</button>
<p class="actions"><button class="button quiet" type="button" data-go="password">Back to sign-in</button>
<button class="button quiet" type="button" data-other-code>Use a recovery code</button></p>
</form></template>`;
}

function renderForgotStep(): Html {
  return html`<template data-step="forgot"><form novalidate>
<h2>Reset your password</h2>
<p>We'll email you a link to set a new password. It works once and expires after 30 minutes.</p>
<div class="field">
<label for="forgot-email">Email</label>
<input id="forgot-email" name="email" type="email" autocomplete="username">
</div>
<button class="button full" type="submit">Send link</button>
<button class="button quiet full" type="button" data-go="password">Back to sign-in</button>
</form></template>
<template data-step="sent"><section>
<h2>Check your email</h2>
<p class="received" role="status"></p>
<button class="button second full" type="button" data-go="password">Back to sign-in</button>
</section></template>`;
}
