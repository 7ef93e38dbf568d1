/** POST /api/auth/password/forgot and …/reset, and the page /reset-password. */
import { AppError } from "../../../errors.ts";
import { noteAudit } from "../../../http/audit-note.ts";
import { ERROR_RESPONSES, errorText } from "../../../http/error-response.ts";
import { queryOf } from "../../../http/fields.ts";
import { requestLanguage } from "../../../http/language.ts";
import { readForm } from "../../../http/read-form.ts";
import { translateMessage } from "../../../translations/error-texts.ts";
import { say } from "../../../translations/say.ts";
import { pageFrame, pageResponse } from "../../../web/pages/page.ts";
import { renderResetDonePage, renderResetGonePage, renderResetPage } from "../../../web/pages/reset-password-page.ts";
import type { authGuard } from "../auth/guard.ts";
import { parseEmail } from "../users/email.ts";
import { PAGE_ROUTE } from "../routing/declaration.ts";
import { Router } from "../routing/router.ts";
import * as docs from "./openapi.ts";
import { ForgotBody, ResetBody } from "./model.ts";
import type { PasswordReset } from "./service.ts";

/** Dependencies of these routes. */
interface PasswordResetRoutesOptions {
  readonly resets: PasswordReset;
  readonly guard: ReturnType<typeof authGuard>;
  /** `""`, or the path below which everything is served. */
  readonly basePath: string;
}

const HEADERS = { "cache-control": "no-store", "referrer-policy": "no-referrer" };

const MAILED = say`If an account with this email exists, we sent it an email with a link. The link expires in 30 minutes.`;
const NO_MAIL = say`This server can't send email. Ask your administrator for a link to reset your password.`;

export function passwordResetRoutes({ resets, guard, basePath }: PasswordResetRoutesOptions) {
  const linkEnded = (request: Request) => pageResponse(renderResetGonePage(pageFrame(request, basePath)), 404, HEADERS);
  return new Router({ guard })
    .post(
      "/api/auth/password/forgot",
      {
        access: "public",
        rate: "signin",
        audit: { action: "password.forgot", write: "deferred" },
        docs: docs.forgotPassword,
        body: ForgotBody,
      },
      async ({ body, request }) => {
        const email = parseEmail(body.email);
        if (resets.isByMail) await resets.request(email);
        const message = translateMessage(resets.isByMail ? MAILED : NO_MAIL, requestLanguage(request));
        return { success: true as const, message };
      },
    )
    .post(
      "/api/auth/password/reset",
      {
        access: "public",
        rate: "signin",
        audit: { action: "password.reset", isGuess: true },
        docs: docs.resetPassword,
        body: ResetBody,
      },
      async ({ body, request }) => {
        const endKeys = body.endKeys ?? false;
        const { publicId } = await resets.reset(body.token, body.newPassword, endKeys);
        noteAudit(request, { subjectId: publicId, ...(endKeys && { details: { endKeys } }) });
        return { success: true as const, message: "The password was changed. Sign in with the new password." };
      },
    )
    .get("/reset-password", PAGE_ROUTE, ({ request }) => {
      const token = queryOf(request)["token"] ?? "";
      if (!resets.isOpen(token)) return linkEnded(request);
      return pageResponse(renderResetPage(pageFrame(request, basePath), token), 200, HEADERS);
    })
    .post(
      "/reset-password",
      {
        ...PAGE_ROUTE,
        audit: { action: "password.reset", isGuess: true },
        parse: "none",
      },
      async ({ request }) => {
        const form = await readForm(request);
        const token = form.get("token") ?? "";
        if (!resets.isOpen(token)) return linkEnded(request);
        const frame = pageFrame(request, basePath);
        const endKeys = form.get("endKeys") !== null && form.get("endKeys") !== undefined;
        try {
          const { publicId } = await resets.reset(token, form.get("newPassword") ?? "", endKeys);
          noteAudit(request, { subjectId: publicId, ...(endKeys && { details: { endKeys } }) });
          return pageResponse(renderResetDonePage(frame), 200, HEADERS);
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
          // Somebody used the link while this form was in progress.
          if (!resets.isOpen(token)) return linkEnded(request);
          noteAudit(request, { reason: error.reason });
          const [status] = ERROR_RESPONSES[error.reason];
          const page = renderResetPage(frame, token, { message: errorText(error, request), endKeys });
          return pageResponse(page, status, HEADERS);
        }
      },
    );
}
