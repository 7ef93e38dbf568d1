/** The sign-in page. The server renders every step of it, and `src/client/features/sign-in/page.ts` runs it. */
import { type Html, html } from "./html.ts";
import { PAGE_POLICY, type PageFrame, renderPage } from "./page.ts";
import { notSetUpTexts, signInTexts } from "./text.ts";

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
export function renderSignInPage(frame: PageFrame, scripts: SignInPageScripts, model: SignInPageModel): string {
  const { basePath, language } = frame;
  const text = signInTexts(language);
  return renderScripted(
    frame,
    scripts,
    text.title,
    html`<div class="card narrow" data-sign-in data-base-path="${basePath}" data-next="${basePath}${model.next}">
<h1>${text.title}</h1>
<noscript><p class="notice">${text.needsScript}</p></noscript>
${renderPasswordStep(frame, model)}
${renderCodeStep(language)}
${model.hasMail && renderForgotStep(language)}
</div>`,
  );
}

/** The page of a server without accounts: where to find the link that creates the first one. */
export function renderNotSetUpPage(frame: PageFrame): string {
  const { basePath, language } = frame;
  const text = notSetUpTexts(language);
  return renderPage(
    frame,
    text.title,
    html`<div class="card narrow">
<h1>${text.title}</h1>
<p>${text.lead}</p>
<p>${text.where}</p>
<p><code>larder user setup-link</code></p>
<p class="actions"><a class="button" href="${basePath}/sign-in">${text.toSignIn}</a> <a class="button quiet" href="${basePath}/docs">${text.docs}</a></p>
</div>`,
  );
}

function renderScripted(frame: PageFrame, scripts: SignInPageScripts, title: string, main: Html): string {
  const { basePath } = frame;
  const [module = "", ...imports] = scripts.module;
  return renderPage(
    frame,
    title,
    main,
    html`<script src="${basePath}${scripts.theme}"></script>
${imports.map((path) => html`<link rel="modulepreload" href="${basePath}${path}">\n`)}<script type="module" src="${basePath}${module}"></script>
`,
  );
}

function renderPasswordStep({ basePath, language }: PageFrame, model: SignInPageModel): Html {
  const { provider, hasPasskeys, hasMail, signup, next } = model;
  const text = signInTexts(language);
  const query = new URLSearchParams({ returnTo: `${basePath}${next}` }).toString();
  return html`<form novalidate>
<div class="field">
<label for="email">${text.email}</label>
<input id="email" name="email" type="email" autocomplete="username${hasPasskeys && " webauthn"}" autofocus>
</div>
<div class="field">
<label for="password">${text.password}</label>
<span class="revealed"><input id="password" name="password" type="password" autocomplete="current-password" autocapitalize="off" spellcheck="false"><button class="button quiet small" type="button" data-reveal data-hide="${text.hide}" aria-label="${text.showPassword}" aria-pressed="false" aria-controls="password" disabled>${text.show}</button></span>
</div>
<button class="button full" type="submit" disabled>${text.submit}</button>
${hasMail ? html`<button class="button quiet full" type="button" data-go="forgot" disabled>${text.forgot}</button>` : html`<p class="hint centered">${text.forgotWithoutMail}</p>`}
<div class="others"${!hasPasskeys && provider === undefined && html` hidden`}>
<p class="or">${text.or}</p>
${hasPasskeys && html`<button class="button second full" type="button" data-passkey hidden>${text.passkey}</button>`}
${provider !== undefined && html`<a class="button second full" href="${basePath}/api/auth/oidc/start?${query}">${text.withProvider({ name: provider })}</a>`}
</div>
${signup === "open" && html`<p class="hint centered">${text.openSignup} <a href="${basePath}/sign-up">${text.create}</a></p>`}
${signup === "invite" && html`<p class="hint centered">${text.inviteSignup}</p>`}
</form>`;
}

/**
 * The second step, for accounts with two-factor authentication. A template, like every later step: password managers and screen
 * readers see one form at a time.
 */
function renderCodeStep(language: string): Html {
  const text = signInTexts(language);
  return html`<template data-step="code"><form novalidate>
<h2>${text.codeTitle}</h2>
<p data-lead>${text.codeLead}</p>
<div class="field">
<label for="code">${text.code}</label>
<input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" autocapitalize="off" spellcheck="false">
</div>
<button class="button full" type="submit">${text.submit}</button>
<p class="actions"><button class="button quiet" type="button" data-go="password">${text.back}</button>
<button class="button quiet" type="button" data-other-code>${text.recoveryCode}</button></p>
</form></template>`;
}

function renderForgotStep(language: string): Html {
  const text = signInTexts(language);
  return html`<template data-step="forgot"><form novalidate>
<h2>${text.forgotTitle}</h2>
<p>${text.forgotLead}</p>
<div class="field">
<label for="forgot-email">${text.email}</label>
<input id="forgot-email" name="email" type="email" autocomplete="username">
</div>
<button class="button full" type="submit">${text.sendLink}</button>
<button class="button quiet full" type="button" data-go="password">${text.back}</button>
</form></template>
<template data-step="sent"><section>
<h2>${text.sent}</h2>
<p class="received" role="status"></p>
<button class="button second full" type="button" data-go="password">${text.back}</button>
</section></template>`;
}
