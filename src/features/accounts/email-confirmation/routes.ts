/** POST /api/auth/email/confirm and …/send, and the page /confirm-email. */
import { AppError } from "../../../errors.ts";
import { noteAudit } from "../../../http/audit-note.ts";
import { ok } from "../../../http/envelope.ts";
import { queryOf } from "../../../http/fields.ts";
import { readForm } from "../../../http/read-form.ts";
import type { Clock } from "../../../lib/clock.ts";
import {
  renderConfirmEmailDonePage,
  renderConfirmEmailGonePage,
  renderConfirmEmailPage,
} from "../../../web/pages/confirm-email-page.ts";
import { pageFrame, pageResponse } from "../../../web/pages/page.ts";
import type { authGuard } from "../auth/guard.ts";
import { RateLimitedError, rateLimitHeaders } from "../rate-limits/headers.ts";
import { PAGE_ROUTE } from "../routing/declaration.ts";
import { Router } from "../routing/router.ts";
import * as docs from "./openapi.ts";
import { ConfirmBody } from "./model.ts";
import type { EmailConfirmation } from "./service.ts";

/** Dependencies of these routes. */
interface EmailConfirmationRoutesOptions {
  readonly confirmations: EmailConfirmation;
  readonly guard: ReturnType<typeof authGuard>;
  readonly clock: Clock;
  /** `""`, or the path below which everything is served. */
  readonly basePath: string;
}

const HEADERS = { "cache-control": "no-store", "referrer-policy": "no-referrer" };

export function emailConfirmationRoutes({ confirmations, guard, clock, basePath }: EmailConfirmationRoutesOptions) {
  const linkEnded = (request: Request) =>
    pageResponse(renderConfirmEmailGonePage(pageFrame(request, basePath)), 404, HEADERS);
  const confirm = async (request: Request, token: string) => {
    const user = await confirmations.confirm(token);
    noteAudit(request, { subjectId: user.publicId });
    return user;
  };
  return new Router({ guard })
    .post(
      "/api/auth/email/confirm",
      {
        access: "public",
        rate: "general",
        audit: { action: "email.confirm" },
        docs: docs.confirmEmail,
        body: ConfirmBody,
      },
      async ({ body, request }) => {
        const { email } = await confirm(request, body.token);
        return ok({ email, emailVerified: true as const }, "The email address is confirmed.");
      },
    )
    .post(
      "/api/auth/email/send",
      {
        access: "self",
        scope: "never",
        rate: "general",
        audit: { action: "email.confirmation_sent", write: "deferred" },
        docs: docs.sendConfirmation,
        parse: "none",
      },
      async ({ principal, set }) => {
        const { user } = principal;
        try {
          const sent = await confirmations.send(user);
          return ok({ email: user.email, emailVerified: user.isEmailUnconfirmed !== true, sent });
        } catch (error) {
          // The limit of these mails rejects, and the headers show it.
          if (error instanceof RateLimitedError)
            Object.assign(set.headers, rateLimitHeaders(error.limitResult, clock.nowMs()));
          throw error;
        }
      },
    )
    .get("/confirm-email", PAGE_ROUTE, ({ request }) => {
      const token = queryOf(request)["token"] ?? "";
      const user = confirmations.find(token);
      return user === undefined
        ? linkEnded(request)
        : pageResponse(renderConfirmEmailPage(pageFrame(request, basePath), token, user.email), 200, HEADERS);
    })
    .post(
      "/confirm-email",
      { ...PAGE_ROUTE, audit: { action: "email.confirm" }, parse: "none" },
      async ({ request }) => {
        const form = await readForm(request);
        try {
          const { email } = await confirm(request, form.get("token") ?? "");
          return pageResponse(renderConfirmEmailDonePage(pageFrame(request, basePath), email), 200, HEADERS);
        } catch (error) {
          if (!(error instanceof AppError) || error.reason !== "invalid_token") throw error;
          noteAudit(request, { reason: error.reason });
          return linkEnded(request);
        }
      },
    );
}
