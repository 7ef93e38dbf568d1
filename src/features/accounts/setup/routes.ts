/** The page of the one-time setup link, which creates the first administrator. */
import type { Config } from "../../../config/settings.ts";
import { AppError } from "../../../errors.ts";
import { noteAudit } from "../../../http/audit-note.ts";
import { queryOf } from "../../../http/fields.ts";
import { statedLanguage } from "../../../http/language.ts";
import { errorText } from "../../../http/error-response.ts";
import { readForm } from "../../../http/read-form.ts";
import { pageFrame, pageResponse } from "../../../web/pages/page.ts";
import {
  renderSetupDonePage,
  renderSetupGonePage,
  renderSetupPage,
  type SetupField,
  type SetupPageModel,
  type SetupUse,
} from "../../../web/pages/setup-page.ts";
import { clientOf, type SessionCookies } from "../auth/routes.ts";
import type { AuthService } from "../auth/service.ts";
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
  /** Called with the chosen use of the server when the administrator is created. */
  readonly onSetUp: (use: SetupUse) => void;
}

const FIELDS: readonly SetupField[] = ["email", "name", "password", "use"];
const HEADERS = { "cache-control": "no-store", "referrer-policy": "no-referrer" };

/** GET and POST /setup. */
export function setupRoutes({ auth, cookies, config, basePath, onSetUp }: SetupRoutesOptions) {
  const linkEnded = (request: Request) => pageResponse(renderSetupGonePage(pageFrame(request, basePath)), 404, HEADERS);
  return new Router()
    .get("/setup", PAGE_ROUTE, ({ request }) => {
      const token = queryOf(request)["token"] ?? "";
      if (!auth.isSetupToken(token)) return linkEnded(request);
      return pageResponse(renderSetupPage(pageFrame(request, basePath), { token }), 200, HEADERS);
    })
    .post(
      "/setup",
      {
        ...PAGE_ROUTE,
        audit: { action: "sign_up", target: "user" },
        parse: "none",
      },
      async ({ request }) => {
        const form = await readForm(request);
        const token = form.get("token") ?? "";
        if (!auth.isSetupToken(token)) return linkEnded(request);
        const entered: SetupPageModel = {
          token,
          email: form.get("email") ?? "",
          name: form.get("name") ?? "",
          use: form.get("use") === "accounts" ? "accounts" : "household",
        };
        const name = entered.name?.trim() ?? "";
        const use = entered.use ?? "household";
        let user: User;
        try {
          user = await auth.setUp(
            token,
            {
              email: entered.email ?? "",
              password: form.get("password") ?? "",
              language: statedLanguage(request),
              ...(name !== "" && { name }),
            },
            use === "household" ? "enterprise" : config.defaultPlan,
          );
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
          // Somebody used the link while this form was in progress.
          if (!auth.isSetupToken(token)) return linkEnded(request);
          const field = FIELDS.find((known) => known === error.details["field"]);
          return pageResponse(
            renderSetupPage(pageFrame(request, basePath), {
              ...entered,
              problem: { field, message: errorText(error, request) },
            }),
            400,
            HEADERS,
          );
        }
        noteAudit(request, { userId: user.publicId, details: { role: user.role } });
        // The account exists and the link is used up, so the choice is applied even if starting the session fails.
        const signedIn = await auth.signInConfirmed(user, clientOf(request)).finally(() => onSetUp(use));
        return pageResponse(renderSetupDonePage(pageFrame(request, basePath), user.email, use), 201, {
          ...HEADERS,
          "set-cookie": cookies.forSignIn(request, signedIn),
        });
      },
    );
}
