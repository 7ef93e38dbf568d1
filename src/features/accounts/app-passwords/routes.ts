import { ok } from "../../../http/envelope.ts";
import { IdParams, readInstant } from "../../../http/fields.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import type { authGuard } from "../auth/guard.ts";
import { notByDevice } from "../auth/principal.ts";
import type { ProofService } from "../auth/proof.ts";
import { Router } from "../routing/router.ts";
import * as docs from "./openapi.ts";
import { NewAppPasswordBody } from "./model.ts";
import { davUrl, presentAppPassword } from "./present.ts";
import type { AppPasswordService } from "./service.ts";

/** Dependencies of the routes about app passwords. */
export interface AppPasswordRoutesOptions {
  readonly appPasswords: AppPasswordService;
  readonly proof: ProofService;
  readonly guard: ReturnType<typeof authGuard>;
}

/** /api/users/app-passwords. No API key and no app password can call them. */
export function appPasswordRoutes({ appPasswords, proof, guard }: AppPasswordRoutesOptions) {
  return new Router({ prefix: "/api/users/app-passwords", guard })
    .post(
      "/",
      {
        access: "self",
        scope: "never",
        rate: "profile",
        audit: { action: "app_password.create", target: "app_password", isGuess: true },
        docs: docs.createAppPassword,
        body: NewAppPasswordBody,
      },
      async ({ request, set, principal, body }) => {
        if (principal.device !== undefined) throw notByDevice();
        const { name, access, folder } = body;
        const expiresAt = readInstant(body.expiresAt ?? undefined, "expiresAt");
        const expiresAtMs = expiresAt === undefined ? null : Date.parse(expiresAt);
        const checkProof = await proof.require("self", { request, set, principal, body });
        const added = await appPasswords.add({ name, access, folder, expiresAtMs }, checkProof);
        const { appPassword, user, password } = added;
        set.status = 201;
        return ok({
          ...presentAppPassword(appPassword, appPasswords.folderOf(user.id, appPassword)),
          username: user.email,
          password,
          url: davUrl(requestContextOf(request).baseUrl),
        });
      },
    )
    .get(
      "/",
      { access: "self", scope: "never", rate: "profile", audit: "unaudited", docs: docs.listAppPasswords },
      ({ request, principal }) =>
        ok({
          appPasswords: listOf(appPasswords, principal.user.id),
          url: davUrl(requestContextOf(request).baseUrl),
        }),
    )
    .delete(
      "/:id",
      {
        access: "self",
        scope: "never",
        rate: "profile",
        audit: { action: "app_password.delete", target: "app_password", targetParam: "id" },
        docs: docs.deleteAppPassword,
        params: IdParams,
      },
      async ({ principal, params }) => {
        await appPasswords.revoke(principal.user.id, params.id);
        return ok({ id: params.id }, "The app password has ended and no longer works.");
      },
    );
}

function listOf(appPasswords: AppPasswordService, userId: number) {
  return appPasswords
    .list(userId)
    .map((appPassword) => presentAppPassword(appPassword, appPasswords.folderOf(userId, appPassword)));
}
