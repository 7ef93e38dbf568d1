/** The pages that links open in a browser. They work without script. */
import { t } from "elysia";
import { AppError } from "../../../errors.ts";
import { errorResponseOf } from "../../../http/error-response.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { readForm } from "../../../http/read-form.ts";
import { pageFrame, pageResponse } from "../../../web/pages/page.ts";
import {
  renderShareNotFoundPage,
  renderShareRejectedPage,
  renderUnlockPage,
  SHARE_PAGE_POLICY,
} from "../../../web/pages/share-page.ts";
import { say } from "../../../translations/say.ts";
import { shareTexts } from "../../../web/pages/share-text.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import type { RateGate } from "../../accounts/rate-limits/guard.ts";
import { PAGE_ROUTE } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import { GRANT_COOKIE, type ShareDownloads, linkRequestOf } from "./share-requests.ts";
import { GRANT_MS } from "./password-grants.ts";
import { PAGE_HEADERS, SharePages, type SharePagesOptions } from "./pages.ts";
import { unlock, type UnlockOptions } from "./routes.ts";

/** Dependencies of the pages of links. */
export interface SharePageRoutesOptions extends SharePagesOptions {
  readonly downloads: ShareDownloads;
  readonly guesses: UnlockOptions["guesses"];
  readonly rateGate: RateGate;
  readonly guard: ReturnType<typeof authGuard>;
}

const TokenParams = t.Object({ token: t.String() });
const FORM_BYTES_MAX = 16 * 1024;
/** 1,000 ids and their names. */
const SELECTION_BYTES_MAX = 64 * 1024;

/** /s/{token}, and the targets of its forms */
export function sharePageRoutes(options: SharePageRoutesOptions) {
  const { shareAccess, downloads, guard, basePath, dropBox } = options;
  const pages = new SharePages(options);
  const toPage = sharePageRejection(options);

  return new Router({ guard })
    .get("/s/:token", { ...PAGE_ROUTE, params: TokenParams }, async ({ params, request }) => {
      try {
        const opened = shareAccess.open(linkRequestOf(request, params.token, "describe"));
        return await pages.show(opened, request);
      } catch (error) {
        const isGone = error instanceof AppError && error.reason === "not_found";
        const received = isGone ? await pages.received(params.token, request) : undefined;
        return received ?? pageOrThrow(error, toPage(error, params.token, request));
      }
    })
    .post(
      "/s/:token/unlock",
      {
        ...PAGE_ROUTE,
        audit: { action: "share.unlock", write: "rejections", isGuess: true },
        acknowledges: false,
        params: TokenParams,
        parse: "none",
      },
      async ({ params, request, set }) => {
        const { token } = params;
        try {
          checkOrigin(request);
          const password = (await readForm(request, FORM_BYTES_MAX)).get("password") ?? "";
          const { grant } = await unlock(options, { token, password }, request, set.headers);
          const location = `${basePath}/s/${token}`;
          const headers = { ...PAGE_HEADERS, location, "set-cookie": grantCookie(request, grant, location) };
          return new Response(null, { status: 303, headers });
        } catch (error) {
          return pageOrThrow(error, toPage(error, token, request, true));
        }
      },
    )
    .post(
      "/s/:token/upload",
      { ...PAGE_ROUTE, rate: "uploads", params: TokenParams, parse: "none" },
      async ({ params, request }) => {
        const { token } = params;
        const linkRequest = linkRequestOf(request, token, "upload");
        try {
          checkOrigin(request);
          const received = await dropBox.receive(linkRequest, request);
          return await pages.dropBox(shareAccess.open(linkRequest), request, { received });
        } catch (error) {
          if (concernsShare(error)) return pageOrThrow(error, toPage(error, token, request));
          return pages.dropBox(shareAccess.open(linkRequest), request, { error });
        }
      },
    )
    .post(
      "/s/:token/archive",
      { ...PAGE_ROUTE, rate: "downloads", params: TokenParams, parse: "none", acknowledges: false },
      async ({ params, request, set }) => {
        try {
          checkOrigin(request);
          const ids = (await readForm(request, SELECTION_BYTES_MAX)).getAll("id");
          return await downloads.sendSelection(params.token, ids, request, set);
        } catch (error) {
          return pageOrThrow(error, toPage(error, params.token, request));
        }
      },
    );
}

/**
 * Renders the page for a rejected request; undefined for errors that do not concern the share. After too many wrong
 * passwords, it shows the form again.
 */
export function sharePageRejection({ basePath, scripts }: Pick<SharePagesOptions, "basePath" | "scripts">) {
  return async (
    error: unknown,
    token: string,
    request: Request,
    isUnlocking = false,
  ): Promise<Response | undefined> => {
    if (!(error instanceof AppError)) return undefined;
    const { status, headers, body } = errorResponseOf(error, "", request);
    const { message } = body.error;
    const respond = (page: string) => pageResponse(page, status, { ...headers, ...PAGE_HEADERS });
    const frame = pageFrame(request, basePath);
    const text = shareTexts(frame.language);
    const rejectedPage = (title: string, why: string) => respond(renderShareRejectedPage(frame, title, why));
    const locked = async (problem?: string) => {
      const page = renderUnlockPage(
        { ...frame, ...(await scripts(frame.language)) },
        `${basePath}/s/${token}/unlock`,
        problem,
      );
      const policy = { "content-security-policy": SHARE_PAGE_POLICY };
      return pageResponse(page, status, { ...headers, ...PAGE_HEADERS, ...policy });
    };
    switch (error.reason) {
      case "not_found":
        return respond(renderShareNotFoundPage(frame));
      case "password_required":
        return locked();
      case "bad_credentials":
        return locked(message);
      case "rate_limited":
        return isUnlocking ? locked(message) : rejectedPage(text.tooManyAttempts, message);
      case "share_expired":
        return rejectedPage(text.expired, text.requestNewLink);
      case "share_used_up":
        return rejectedPage(text.usedUp, text.requestNewLink);
      case "share_permission":
      case "csrf":
        return rejectedPage(text.notAllowed, message);
      default:
        return undefined;
    }
  };
}

/** Whether an error concerns the link. An error that concerns the sent file is shown next to the form instead. */
function concernsShare(error: unknown): boolean {
  return !(error instanceof AppError) || SHARE_ERRORS.has(error.reason);
}

const SHARE_ERRORS: ReadonlySet<string> = new Set([
  "not_found",
  "password_required",
  "share_expired",
  "share_used_up",
  "share_permission",
  "csrf",
]);

/** @throws the error, if no page was rendered for it */
async function pageOrThrow(error: unknown, rendered: Promise<Response | undefined>): Promise<Response> {
  const page = await rendered;
  if (page === undefined) throw error;
  return page;
}

/** The cookie with which the pages of one share send its grant. */
function grantCookie(request: Request, grant: string, path: string): string {
  return new Bun.Cookie(GRANT_COOKIE, grant, {
    path,
    httpOnly: true,
    sameSite: "lax",
    secure: requestContextOf(request).isSecure,
    maxAge: GRANT_MS / 1000,
  }).serialize();
}

/**
 * Rejects forms of other sites, by Fetch Metadata and Origin. Browsers leave out Fetch Metadata without TLS, and send
 * the origin `null` because the page sends no referrer. A request without either carries no cookie of this server from
 * another site, because the cookie is SameSite.
 */
function checkOrigin(request: Request): void {
  const site = request.headers.get("sec-fetch-site");
  const { baseUrl, requestOrigin } = requestContextOf(request);
  const origin = URL.parse(request.headers.get("origin") ?? "")?.origin;
  const ours = [baseUrl, requestOrigin ?? ""].map((url) => URL.parse(url)?.origin);
  const isOtherSite =
    site === null ? origin !== undefined && origin !== "null" && !ours.includes(origin) : site !== "same-origin";
  if (isOtherSite)
    throw new AppError("csrf", say`This form was sent from another site. Open the link and use its own page.`);
}
