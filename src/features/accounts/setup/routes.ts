/** The page of the one-time setup link, which creates the first administrator. */
import type { Config } from "../../../config/settings.ts";
import { AppError } from "../../../errors.ts";
import { noteAudit } from "../../../http/audit-note.ts";
import { queryOf } from "../../../http/fields.ts";
import { statedLanguage } from "../../../http/language.ts";
import { errorText } from "../../../http/error-response.ts";
import { readForm } from "../../../http/read-form.ts";
import type { PageScripts } from "../../../web/bundle/client-files.ts";
import { pageFrame, pageResponse } from "../../../web/pages/page.ts";
import { SCRIPTED_PAGE_HEADERS, type ScriptedPageFrame } from "../../../web/pages/scripted-page.ts";
import {
  renderSetupDonePage,
  renderSetupGonePage,
  renderSetupPage,
  type SetupField,
  type SetupPageModel,
  type SetupUse,
} from "../../../web/pages/setup-page.ts";
import { clientOf, type SessionCookies } from "../auth/routes.ts";
import type { AuthService, SignedIn } from "../auth/service.ts";
import type { User } from "../users/types.ts";
import { PAGE_ROUTE } from "../routing/declaration.ts";
import { Router } from "../routing/router.ts";

/** Dependencies of the setup page. */
export interface SetupRoutesOptions {
  readonly auth: AuthService;
  readonly cookies: SessionCookies;
  readonly config: Pick<Config, "defaultPlan">;
  /** `""`, or the path below which everything is served. */
  readonly basePath: string;
  /** Called with the chosen use of the server when the administrator is created. Returns whether the server restarts. */
  readonly onSetUp: (use: SetupUse) => boolean;
  /** The script of the pages; empty if it could not be loaded. */
  readonly setupScripts: (language: string) => Promise<PageScripts>;
}

const FIELDS: readonly SetupField[] = ["email", "name", "password", "use"];
const SCRIPT_POLICY = SCRIPTED_PAGE_HEADERS["content-security-policy"];
const FORM_HEADERS = { "content-security-policy": SCRIPT_POLICY };
/** The script of this page requests /health/ready. */
const DONE_HEADERS = { "content-security-policy": `${SCRIPT_POLICY}; connect-src 'self'` };

/** GET and POST /setup. */
export function setupRoutes(options: SetupRoutesOptions) {
  const { auth } = options;
  return new Router()
    .get("/setup", PAGE_ROUTE, async ({ request }) => {
      const token = queryOf(request)["token"] ?? "";
      if (!auth.isSetupToken(token)) return linkEnded(options, request);
      return pageResponse(renderSetupPage(await scripted(options, request), { token }), 200, FORM_HEADERS);
    })
    .post(
      "/setup",
      {
        ...PAGE_ROUTE,
        audit: { action: "sign_up", target: "user" },
        parse: "none",
      },
      async ({ request }) => setUp(options, request),
    );
}

function linkEnded({ basePath }: SetupRoutesOptions, request: Request): Response {
  return pageResponse(renderSetupGonePage(pageFrame(request, basePath)), 404);
}

async function scripted({ basePath, setupScripts }: SetupRoutesOptions, request: Request): Promise<ScriptedPageFrame> {
  const frame = pageFrame(request, basePath);
  const { scripts } = await setupScripts(frame.language);
  return { ...frame, scripts };
}

/** Creates the administrator from the form, or shows the form again with the problem. */
async function setUp(options: SetupRoutesOptions, request: Request): Promise<Response> {
  const { auth, cookies, config, onSetUp } = options;
  const form = await readForm(request);
  const token = form.get("token") ?? "";
  if (!auth.isSetupToken(token)) return linkEnded(options, request);
  const use = form.get("use") === "accounts" ? "accounts" : "household";
  const entered = { token, email: form.get("email") ?? "", name: form.get("name") ?? "", use } satisfies SetupPageModel;
  const name = entered.name.trim();
  // Before the account is created: if the scripts failed to load after it, `onSetUp` would not be called.
  const frame = await scripted(options, request);
  let user: User;
  try {
    user = await auth.setUp(
      token,
      {
        email: entered.email,
        password: form.get("password") ?? "",
        language: statedLanguage(request),
        ...(name !== "" && { name }),
      },
      use === "household" ? "enterprise" : config.defaultPlan,
    );
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    // Somebody used the link while this form was in progress.
    if (!auth.isSetupToken(token)) return linkEnded(options, request);
    const field = FIELDS.find((known) => known === error.details["field"]);
    const model = { ...entered, problem: { field, message: errorText(error, request) } };
    return pageResponse(renderSetupPage(frame, model), 400, FORM_HEADERS);
  }
  noteAudit(request, { userId: user.publicId, details: { role: user.role } });
  let restarts: boolean;
  let signedIn: SignedIn;
  try {
    signedIn = await auth.signInConfirmed(user, clientOf(request));
  } finally {
    // The account exists and the link is used up, so the choice is applied even if starting the session fails.
    restarts = onSetUp(use);
  }
  const next = restarts ? "restarting" : use === "household" ? "not_saved" : "accounts";
  return pageResponse(renderSetupDonePage(frame, user.email, next), 201, {
    ...DONE_HEADERS,
    "set-cookie": cookies.forSignIn(request, signedIn),
  });
}
