/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { ApiKeyRecord, NewApiKeyRecord } from "./model.ts";
import { PROOF_ERRORS } from "../auth/confirm-routes.ts";
import { t } from "elysia";

export const createApiKey = (): RouteDocs => ({
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
  status: 201,
  data: NewApiKeyRecord,
  errors: ["role", "invalid_request", ...PROOF_ERRORS],
});

export const listApiKeys = (): RouteDocs => ({
  tag: "Users",
  summary: "One's own API keys, newest first",
  description: "Without the keys themselves: those are shown once, when they are created.",
  data: t.Object({ apiKeys: t.Array(ApiKeyRecord) }),
});

export const deleteApiKey = (): RouteDocs => ({
  tag: "Users",
  summary: "Delete an API key: it is dead at once",
  description: "Requests with this key fail from now on.",
  data: t.Object({ id: t.String() }),
  errors: ["not_found", "invalid_field"],
});
