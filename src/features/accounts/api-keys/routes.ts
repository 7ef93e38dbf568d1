import { Elysia, t } from "elysia";
import { documented } from "../../../http/documented.ts";
import { ok } from "../../../http/envelope.ts";
import { IdParams, readInstant } from "../../../http/fields.ts";
import { PROOF_ERRORS } from "../auth/confirm-routes.ts";
import { type authGuard, takesJson } from "../auth/guard.ts";
import { notByDevice } from "../auth/principal.ts";
import type { ProofService } from "../auth/proof.ts";
import { ApiKeyRecord, NewApiKeyBody, NewApiKeyRecord } from "./model.ts";
import { presentApiKey } from "./present.ts";
import type { ApiKeyService } from "./service.ts";

/** What the routes about API keys work with. */
export interface ApiKeyRoutesOptions {
  readonly apiKeys: ApiKeyService;
  readonly proof: ProofService;
  readonly guard: ReturnType<typeof authGuard>;
}

/** /api/users/api-keys (contract §2). Never by a key: `auth/scopes.ts` closes these paths to keys. */
export function apiKeyRoutes({ apiKeys, proof, guard }: ApiKeyRoutesOptions) {
  return new Elysia({ name: "api-key-routes", prefix: "/api/users/api-keys" })
    .use(guard)
    .post(
      "/",
      async ({ principal, body, request, set }) => {
        if (principal.device !== undefined) throw notByDevice();
        const expiresAt = readInstant(body.expiresAt ?? undefined, "expiresAt");
        const proven = await proof.require({ request, headers: set.headers, principal, access: "writer" }, body);
        const { apiKey, key } = await apiKeys.add(
          {
            name: body.name,
            scopes: body.scopes,
            expiresAtMs: expiresAt === undefined ? null : Date.parse(expiresAt),
          },
          proven,
        );
        set.status = 201;
        return ok({ ...presentApiKey(apiKey), key });
      },
      {
        ...takesJson("writer", NewApiKeyBody),
        ...documented({
          takesJson: true,
          tag: "Users",
          summary: "Make an API key for a script",
          description:
            "The key is shown this once and stored as a digest. It is sent as `Authorization: Bearer lk_…` or as " +
            "`X-API-Key`; where both are sent, Authorization counts, and either goes before the session cookie. Scopes: " +
            "files:read and files:write for /api/files, shares for links and for making a file public, profile for " +
            "profile, settings, usage and webhooks, admin for /api/admin and /metrics while the account is an " +
            "administrator's. A key manages neither keys, sessions nor passwords. A new password leaves keys as they are, " +
            "unless it comes with `endKeys`. Making one needs proof: `currentPassword`, or a confirmed session. Devices " +
            "and keys make none: 403 scope.",
          access: "writer",
          status: 201,
          data: NewApiKeyRecord,
          errors: ["role", "invalid_request", ...PROOF_ERRORS],
        }),
      },
    )
    .get("/", ({ principal }) => ok({ apiKeys: apiKeys.list(principal.user.id).map(presentApiKey) }), {
      access: "self",
      ...documented({
        tag: "Users",
        summary: "One's own API keys, newest first",
        description: "Without the keys themselves: those are shown once, when they are created.",
        access: "self",
        data: t.Object({ apiKeys: t.Array(ApiKeyRecord) }),
      }),
    })
    .delete(
      "/:id",
      async ({ principal, params }) => {
        await apiKeys.revoke(principal.user.id, params.id);
        return ok({ id: params.id }, "The API key is deleted. It opens nothing any more.");
      },
      {
        access: "self",
        params: IdParams,
        ...documented({
          tag: "Users",
          summary: "Delete an API key: it is dead at once",
          description: "Requests with this key fail from now on.",
          access: "self",
          data: t.Object({ id: t.String() }),
          errors: ["not_found", "invalid_field"],
        }),
      },
    );
}
