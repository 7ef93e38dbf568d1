/** POST /api/auth/email/confirm and …/send, and the page /confirm-email. */
import { Elysia } from "elysia";
import { AppError } from "../../../errors.ts";
import { noteAudit } from "../../../http/audit-note.ts";
import { documented } from "../../../http/documented.ts";
import { ok } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { readQuery } from "../../../http/fields.ts";
import { readForm } from "../../../http/read-form.ts";
import type { Clock } from "../../../lib/clock.ts";
import {
  renderConfirmEmailDonePage,
  renderConfirmEmailGonePage,
  renderConfirmEmailPage,
} from "../../../web/pages/confirm-email-page.ts";
import { pageResponse } from "../../../web/pages/page.ts";
import { type authGuard, takesJson } from "../auth/guard.ts";
import { RateLimitedError, rateLimitHeaders } from "../rate-limits/headers.ts";
import { ConfirmBody, ConfirmedRecord, SentRecord } from "./model.ts";
import type { EmailConfirmation } from "./service.ts";

/** What these routes work with. */
export interface EmailConfirmationRoutesOptions {
  readonly confirmations: EmailConfirmation;
  readonly guard: ReturnType<typeof authGuard>;
  readonly clock: Clock;
  /** `""`, or the path below which everything is served. */
  readonly basePath: string;
}

const HEADERS = { "cache-control": "no-store", "referrer-policy": "no-referrer" };

/** See the head of this file. */
export function emailConfirmationRoutes({ confirmations, guard, clock, basePath }: EmailConfirmationRoutesOptions) {
  const gone = () => pageResponse(renderConfirmEmailGonePage(basePath), 404, HEADERS);
  const confirm = async (request: Request, token: string) => {
    const user = await confirmations.confirm(token);
    noteAudit(request, { subjectId: user.publicId });
    return user;
  };
  return new Elysia({ name: "email-confirmation-routes" })
    .use(guard)
    .post(
      "/api/auth/email/confirm",
      async ({ body, request }) => {
        const { email } = await confirm(request, body.token);
        return ok({ email, emailVerified: true as const }, "The e-mail address is confirmed.");
      },
      {
        ...takesJson("public", ConfirmBody),
        ...documented({
          takesJson: true,
          tag: "Authentication",
          summary: "Confirm an e-mail address by the link in the mail",
          description:
            "`token` is from the link, which works once, for 24 hours, and only while the account has that address. What " +
            "others shared with the address opens from now on. Another link: 401 invalid_token.",
          access: "public",
          data: ConfirmedRecord,
          errors: ["invalid_token"],
        }),
      },
    )
    .post(
      "/api/auth/email/send",
      async ({ principal, set }) => {
        const { user } = principal;
        try {
          const sent = await confirmations.send(user);
          return ok({ email: user.email, emailVerified: user.isEmailUnconfirmed !== true, sent });
        } catch (error) {
          // The limit of these mails is what refuses, and what the headers show.
          if (error instanceof RateLimitedError)
            Object.assign(set.headers, rateLimitHeaders(error.limitResult, clock.nowMs()));
          throw error;
        }
      },
      {
        access: "self",
        parse: "none",
        ...documented({
          tag: "Authentication",
          summary: "Send the mail again by which one's e-mail address is confirmed",
          description: "Three mails an hour for an account and to an address; 429 above that. Earlier links stay good.",
          access: "self",
          data: SentRecord,
          errors: ["invalid_request"],
        }),
      },
    )
    .get(
      "/confirm-email",
      ({ request }) => {
        const token = readQuery(requestContextOf(request).query)["token"] ?? "";
        const user = confirmations.find(token);
        return user === undefined
          ? gone()
          : pageResponse(renderConfirmEmailPage(basePath, token, user.email), 200, HEADERS);
      },
      { detail: { hide: true } },
    )
    .post(
      "/confirm-email",
      async ({ request }) => {
        const form = await readForm(request);
        try {
          const { email } = await confirm(request, form.get("token") ?? "");
          return pageResponse(renderConfirmEmailDonePage(basePath, email), 200, HEADERS);
        } catch (error) {
          if (!(error instanceof AppError) || error.reason !== "invalid_token") throw error;
          noteAudit(request, { reason: error.reason });
          return gone();
        }
      },
      { parse: "none", detail: { hide: true } },
    );
}
