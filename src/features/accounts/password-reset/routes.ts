/** POST /api/auth/password/forgot and …/reset, and the page /reset-password. */
import { Elysia } from "elysia";
import { AppError } from "../../../errors.ts";
import { noteAudit } from "../../../http/audit-note.ts";
import { documented } from "../../../http/documented.ts";
import { ERROR_RESPONSES } from "../../../http/error-response.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { readQuery } from "../../../http/fields.ts";
import { readForm } from "../../../http/read-form.ts";
import { pageResponse } from "../../../web/pages/page.ts";
import { renderResetDonePage, renderResetGonePage, renderResetPage } from "../../../web/pages/reset-password-page.ts";
import { type authGuard, takesJson } from "../auth/guard.ts";
import { parseEmail } from "../users/email.ts";
import { ForgotBody, MessageResponse, ResetBody } from "./model.ts";
import type { PasswordReset } from "./service.ts";

/** What these routes work with. */
export interface PasswordResetRoutesOptions {
  readonly resets: PasswordReset;
  readonly guard: ReturnType<typeof authGuard>;
  /** `""`, or the path below which everything is served. */
  readonly basePath: string;
}

const HEADERS = { "cache-control": "no-store", "referrer-policy": "no-referrer" };

const MAILED =
  "If there is an account with this e-mail, a mail with a link is on its way. The link works for 30 minutes.";
const NO_MAIL = "This server sends no mail. Ask whoever runs it for a link to set a new password.";

/** See the head of this file. */
export function passwordResetRoutes({ resets, guard, basePath }: PasswordResetRoutesOptions) {
  const gone = () => pageResponse(renderResetGonePage(basePath), 404, HEADERS);
  return new Elysia({ name: "password-reset-routes" })
    .use(guard)
    .post(
      "/api/auth/password/forgot",
      async ({ body }) => {
        const email = parseEmail(body.email);
        if (resets.isByMail) await resets.request(email);
        return { success: true as const, message: resets.isByMail ? MAILED : NO_MAIL };
      },
      {
        ...takesJson("public", ForgotBody),
        ...documented({
          takesJson: true,
          tag: "Authentication",
          summary: "Ask for a link to set a new password",
          description:
            "The answer is the same, and takes as long, whether there is an account or not. The link comes by mail, " +
            "works once and for 30 minutes, and ends when a newer one is asked for or the password, the e-mail or the " +
            "account's state changes; at most three in 30 minutes per account. Where the server sends no mail, the message " +
            "says so: then an administrator, or `larder user reset-link`, makes the link. Counts as sign-in, per address.",
          access: "public",
          body: MessageResponse,
        }),
      },
    )
    .post(
      "/api/auth/password/reset",
      async ({ body, request }) => {
        const endKeys = body.endKeys ?? false;
        const { publicId } = await resets.reset(body.token, body.newPassword, endKeys);
        noteAudit(request, { subjectId: publicId, ...(endKeys && { details: { endKeys } }) });
        return { success: true as const, message: "The password was changed. Sign in with the new one." };
      },
      {
        ...takesJson("public", ResetBody),
        ...documented({
          takesJson: true,
          tag: "Authentication",
          summary: "Set a new password by a link",
          description:
            "`token` is from the link. All sessions end, those of phones included, and API keys with `endKeys`; passkeys and " +
            "two-factor sign-in stay. " +
            "A link that was used, is over or is unknown: 401 invalid_token. A password that is refused leaves the link " +
            "as it was.",
          access: "public",
          body: MessageResponse,
          errors: ["invalid_token"],
        }),
      },
    )
    .get(
      "/reset-password",
      ({ request }) => {
        const token = readQuery(requestContextOf(request).query)["token"] ?? "";
        return resets.isOpen(token) ? pageResponse(renderResetPage(basePath, token), 200, HEADERS) : gone();
      },
      { detail: { hide: true } },
    )
    .post(
      "/reset-password",
      async ({ request }) => {
        const form = await readForm(request);
        const token = form.get("token") ?? "";
        if (!resets.isOpen(token)) return gone();
        const endKeys = form.get("endKeys") !== null && form.get("endKeys") !== undefined;
        try {
          const { publicId } = await resets.reset(token, form.get("newPassword") ?? "", endKeys);
          noteAudit(request, { subjectId: publicId, ...(endKeys && { details: { endKeys } }) });
          return pageResponse(renderResetDonePage(basePath), 200, HEADERS);
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
          // Somebody used the link while this form was under way.
          if (!resets.isOpen(token)) return gone();
          noteAudit(request, { reason: error.reason });
          const [status] = ERROR_RESPONSES[error.reason];
          return pageResponse(renderResetPage(basePath, token, { message: error.message, endKeys }), status, HEADERS);
        }
      },
      { parse: "none", detail: { hide: true } },
    );
}
