/** GET and POST /welcome: the first page of a new person. */
import { AppError } from "../../../errors.ts";
import { noteAudit } from "../../../http/audit-note.ts";
import { ERROR_RESPONSES, errorText } from "../../../http/error-response.ts";
import { queryOf } from "../../../http/fields.ts";
import { readForm } from "../../../http/read-form.ts";
import type { PageScripts } from "../../../web/bundle/client-files.ts";
import { pageFrame, pageResponse } from "../../../web/pages/page.ts";
import { renderWelcomeDonePage, renderWelcomeGonePage, renderWelcomePage } from "../../../web/pages/welcome-page.ts";
import { SCRIPTED_PAGE_HEADERS, type ScriptedPageFrame } from "../../../web/pages/scripted-page.ts";
import { findSignIn } from "../auth/guard.ts";
import { isFromOurPage } from "../auth/own-forms.ts";
import { clientOf, type SessionCookies } from "../auth/routes.ts";
import type { AuthService } from "../auth/service.ts";
import type { TwoFactorService } from "../two-factor/service.ts";
import { PAGE_ROUTE } from "../routing/declaration.ts";
import { Router } from "../routing/router.ts";
import type { User } from "../users/types.ts";
import type { Welcome } from "./service.ts";

/** Dependencies of the page. */
export interface WelcomeRoutesOptions {
  readonly welcome: Welcome;
  readonly auth: AuthService;
  readonly twoFactor: TwoFactorService;
  readonly cookies: SessionCookies;
  /** `""`, or the path below which everything is served. */
  readonly basePath: string;
  /** The scripts of the page; empty if they could not be loaded. */
  readonly welcomeScripts: (language: string) => Promise<PageScripts>;
}

const HEADERS = { ...SCRIPTED_PAGE_HEADERS, "cross-origin-opener-policy": "same-origin" };

export function welcomeRoutes(options: WelcomeRoutesOptions) {
  const { welcome, basePath } = options;
  const linkEnded = (request: Request) =>
    pageResponse(renderWelcomeGonePage(pageFrame(request, basePath)), 404, HEADERS);
  const frame = async (request: Request): Promise<ScriptedPageFrame> => {
    const plain = pageFrame(request, basePath);
    return { ...plain, ...(await options.welcomeScripts(plain.language)) };
  };
  const show = async (request: Request, token: string, user: User, problem?: string, status = 200) => {
    const signedInAs = (await findSignIn(options.auth, request))?.user.email;
    const model = { token, name: user.name, email: user.email, signedInAs, ...(problem !== undefined && { problem }) };
    return pageResponse(renderWelcomePage(await frame(request), model), status, HEADERS);
  };
  return new Router()
    .get("/welcome", PAGE_ROUTE, async ({ request }) => {
      const token = queryOf(request)["token"] ?? "";
      const user = welcome.find(token);
      return user === undefined ? linkEnded(request) : show(request, token, user);
    })
    .post(
      "/welcome",
      { ...PAGE_ROUTE, audit: { action: "password.reset", isGuess: true }, parse: "none" },
      async ({ request }) => {
        const form = await readForm(request);
        const token = form.get("token") ?? "";
        const awaited = welcome.find(token);
        if (awaited === undefined) return linkEnded(request);
        let user: User;
        try {
          user = await welcome.accept(token, form.get("password") ?? "");
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
          // Another tab used the link while this form was in progress.
          if (welcome.find(token) === undefined) return linkEnded(request);
          noteAudit(request, { reason: error.reason });
          return show(request, token, awaited, errorText(error, request), ERROR_RESPONSES[error.reason][0]);
        }
        noteAudit(request, { subjectId: user.publicId, userId: user.publicId, details: { welcome: true } });
        const cookie = await signIn(options, request, user);
        const done = { id: user.publicId, name: user.name, email: user.email, isSignedIn: cookie !== undefined };
        const page = renderWelcomeDonePage(await frame(request), done);
        return pageResponse(page, 201, { ...HEADERS, ...(cookie !== undefined && { "set-cookie": cookie }) });
      },
    );
}

/**
 * Signs the new person in, in place of anybody else in this browser, whose session ends: otherwise the browser would
 * still show the messages of that person.
 * @returns the Set-Cookie header; undefined if the person must sign in: a form of another site must not sign anybody in
 *   to an account whose password that site knows, and a second factor is never left out
 */
async function signIn({ auth, twoFactor, cookies }: WelcomeRoutesOptions, request: Request, user: User) {
  if (!isFromOurPage(request) || twoFactor.methodsOf(user.id).length > 0) return undefined;
  const replaced = await findSignIn(auth, request);
  const signedIn = await auth.signInConfirmed(user, clientOf(request));
  if (replaced !== undefined) await auth.signOut(replaced, false);
  return cookies.forSignIn(request, signedIn);
}
