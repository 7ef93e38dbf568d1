/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { ApiKeyRecord, NewApiKeyRecord } from "./model.ts";
import { PROOF_ERRORS } from "../auth/confirm-routes.ts";
import { t } from "elysia";

export const createApiKey = (): RouteDocs => ({
  tag: "Users",
  summary: "Create an API key",
  description:
    "The key is shown only in this response. Send it as `Authorization: Bearer lk_…` or as `X-API-Key`. Scopes: " +
    "`files:read` and `files:write` for /api/files; `shares` for links and for making a file public; `profile` for " +
    "profile, settings, usage and webhooks; `admin` for /api/admin and /metrics, as long as the account is an " +
    "administrator. A key manages no keys, sessions or passwords. Needs proof. Devices and keys cannot create keys: " +
    "403 scope.",
  status: 201,
  data: NewApiKeyRecord,
  errors: ["role", "invalid_request", ...PROOF_ERRORS],
});

export const listApiKeys = (): RouteDocs => ({
  tag: "Users",
  summary: "List your API keys, newest first",
  description: "The keys themselves are not included: each is shown once, when it is created.",
  data: t.Object({ apiKeys: t.Array(ApiKeyRecord) }),
});

export const deleteApiKey = (): RouteDocs => ({
  tag: "Users",
  summary: "Delete an API key",
  description: "Requests with this key fail from now on.",
  data: t.Object({ id: t.String() }),
  errors: ["not_found", "invalid_field"],
});
