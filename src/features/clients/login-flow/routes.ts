import { ok } from "../../../http/envelope.ts";
import { noteAudit } from "../../../http/audit-note.ts";
import { queryOf } from "../../../http/fields.ts";
import { readForm } from "../../../http/read-form.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { AppError } from "../../../errors.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import { say } from "../../../translations/say.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { notByDevice } from "../../accounts/auth/principal.ts";
import type { ProofService } from "../../accounts/auth/proof.ts";
import { Router } from "../../accounts/routing/router.ts";
import { AgreementBody, LoginFlowParams, PollBody } from "./model.ts";
import * as docs from "./openapi.ts";
import type { LoginFlowService } from "./service.ts";
import type { LoginResult } from "./types.ts";

/** Dependencies of the routes for signing in programs. */
export interface LoginFlowRoutesOptions {
  readonly loginFlows: LoginFlowService;
  readonly proof: ProofService;
  readonly guard: ReturnType<typeof authGuard>;
}

/** /api/users/login-flows: for the page on which a person allows or denies access. */
export function loginFlowRoutes({ loginFlows, proof, guard }: LoginFlowRoutesOptions) {
  const self = { access: "self", scope: "never", rate: "profile", params: LoginFlowParams } as const;
  return new Router({ prefix: "/api/users/login-flows", guard })
    .get("/:token", { ...self, audit: "unaudited", docs: docs.showLoginFlow }, ({ params }) => {
      const { program, clientAddress, createdAtMs, expiresAtMs } = loginFlows.get(params.token);
      const times = { createdAt: toTimestamp(createdAtMs), expiresAt: toTimestamp(expiresAtMs) };
      return ok({ program, address: clientAddress, ...times });
    })
    .post(
      "/:token",
      {
        ...self,
        audit: { action: "app_password.create", isGuess: true },
        docs: docs.agreeToLoginFlow,
        body: AgreementBody,
      },
      async ({ request, set, principal, params, body }) => {
        if (principal.device !== undefined) throw notByDevice();
        const { name, access, folder } = body;
        loginFlows.get(params.token);
        const checkProof = await proof.require("self", { request, set, principal, body });
        const { publicId: id, result } = await loginFlows.agree(params.token, { name, access, folder }, checkProof);
        noteAudit(request, { target: { type: "app_password", id } });
        return ok({ redirect: result === undefined ? null : resultUrl(requestContextOf(request).baseUrl, result) });
      },
    )
    .delete("/:token", { ...self, audit: "unaudited", docs: docs.denyLoginFlow }, async ({ params }) => {
      await loginFlows.deny(params.token);
      return ok({}, "The program was not signed in.");
    });
}

/** The addresses that programs call, each also below `/index.php`. */
export function loginProgramRoutes({ loginFlows }: Pick<LoginFlowRoutesOptions, "loginFlows">) {
  const open = { access: "public", rate: "general", audit: "unaudited", docs: "hidden" } as const;
  const router = new Router();
  for (const prefix of ["", "/index.php"]) {
    router
      .post(`${prefix}/login/v2`, open, async ({ request, set }) => {
        Object.assign(set.headers, NO_STORE);
        // Browsers send this header. Any page that somebody visits could use up the sign-ins of the address.
        if (request.headers.get("sec-fetch-site") === "cross-site") throw notByProgram();
        const { baseUrl } = requestContextOf(request);
        const { token, pollToken } = await loginFlows.begin(flowRequest(request, true));
        return {
          poll: { token: pollToken, endpoint: `${baseUrl}${prefix}/login/v2/poll` },
          login: pageUrl(baseUrl, token),
        };
      })
      .post(
        `${prefix}/login/v2/poll`,
        // Programs ask each second for up to 20 minutes, several at one address. A question costs one look-up.
        { ...open, rate: "uncounted", body: PollBody, readOther: readPollToken },
        async ({ request, set, body }) => {
          Object.assign(set.headers, NO_STORE);
          const result = await loginFlows.collect(body.token);
          if (result === undefined) return Response.json([], { status: 404, headers: NO_STORE });
          const { loginName, password } = result;
          return { server: requestContextOf(request).baseUrl, loginName, appPassword: password };
        },
      )
      .get(`${prefix}/login/flow`, open, async ({ request, set }) => {
        // Another site can't make a browser send this header, so it can't begin a sign-in.
        if (request.headers.get("ocs-apirequest") === null) throw notByProgram();
        const { token } = await loginFlows.begin(flowRequest(request, false));
        set.status = 303;
        set.headers["location"] = pageUrl(requestContextOf(request).baseUrl, token);
        return new Response(null, { status: 303, headers: NO_STORE });
      });
  }
  return router;
}

/** These responses contain tokens and app passwords. */
const NO_STORE = { "cache-control": "no-store" } as const;

function notByProgram(): AppError {
  return new AppError("csrf", say`Start this sign-in in your program, with this server's address.`);
}

function flowRequest(request: Request, isPolling: boolean) {
  const { clientAddress } = requestContextOf(request);
  return { userAgent: request.headers.get("user-agent"), clientAddress, isPolling };
}

function pageUrl(baseUrl: string, token: string): string {
  return `${baseUrl}/connect/${token}`;
}

/**
 * The address that hands the result to the Android client. The server is that of the page, not of the request that began
 * the sign-in: its sender could have named another one.
 */
function resultUrl(baseUrl: string, { loginName, password }: LoginResult): string {
  return `nc://login/server:${baseUrl}&user:${encodeURIComponent(loginName)}&password:${encodeURIComponent(password)}`;
}

const POLL_FORM_BYTES_MAX = 4_096;

/** Most programs send a form; the iOS client sends the token in the query and no body. Undefined for any other type. */
function readPollToken(request: Request): Promise<object> | undefined {
  const { token } = queryOf(request);
  if (token !== undefined) return Promise.resolve({ token });
  const type = request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded") return undefined;
  return readForm(request, POLL_FORM_BYTES_MAX).then((form) => ({ token: form.get("token") }));
}
