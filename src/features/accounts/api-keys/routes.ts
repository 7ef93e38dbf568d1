import { ok } from "../../../http/envelope.ts";
import { IdParams, readInstant } from "../../../http/fields.ts";
import type { authGuard } from "../auth/guard.ts";
import { notByDevice } from "../auth/principal.ts";
import type { ProofService } from "../auth/proof.ts";
import { Router } from "../routing/router.ts";
import * as docs from "./openapi.ts";
import { NewApiKeyBody } from "./model.ts";
import { presentApiKey } from "./present.ts";
import type { ApiKeyService } from "./service.ts";

/** Dependencies of the routes about API keys. */
export interface ApiKeyRoutesOptions {
  readonly apiKeys: ApiKeyService;
  readonly proof: ProofService;
  readonly guard: ReturnType<typeof authGuard>;
}

/** /api/users/api-keys. No API key can call them: a key creates no keys. */
export function apiKeyRoutes({ apiKeys, proof, guard }: ApiKeyRoutesOptions) {
  return new Router({ prefix: "/api/users/api-keys", guard })
    .post(
      "/",
      {
        access: "writer",
        scope: "never",
        rate: "profile",
        audit: { action: "api_key.create", target: "api_key", isGuess: true },
        docs: docs.createApiKey,
        body: NewApiKeyBody,
      },
      async ({ request, set, principal, body }) => {
        if (principal.device !== undefined) throw notByDevice();
        const expiresAt = readInstant(body.expiresAt ?? undefined, "expiresAt");
        const checkProof = await proof.require("writer", { request, set, principal, body });
        const { apiKey, key } = await apiKeys.add(
          {
            name: body.name,
            scopes: body.scopes,
            expiresAtMs: expiresAt === undefined ? null : Date.parse(expiresAt),
          },
          checkProof,
        );
        set.status = 201;
        return ok({ ...presentApiKey(apiKey), key });
      },
    )
    .get(
      "/",
      { access: "self", scope: "never", rate: "profile", audit: "unaudited", docs: docs.listApiKeys },
      ({ principal }) => ok({ apiKeys: apiKeys.list(principal.user.id).map(presentApiKey) }),
    )
    .delete(
      "/:id",
      {
        access: "self",
        scope: "never",
        rate: "profile",
        audit: { action: "api_key.delete", target: "api_key", targetParam: "id" },
        docs: docs.deleteApiKey,
        params: IdParams,
      },
      async ({ principal, params }) => {
        await apiKeys.revoke(principal.user.id, params.id);
        return ok({ id: params.id }, "The API key was deleted and no longer works.");
      },
    );
}
