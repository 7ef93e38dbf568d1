import { t } from "elysia";
import { Timestamp } from "../../../http/fields.ts";
import { PROOF_FIELDS, ScopeName } from "../auth/model.ts";
import { DEFAULT_SCOPES, SCOPES } from "../auth/scopes.ts";

const TimestampOrNull = t.Union([Timestamp, t.Null()]);

/** POST /api/users/api-keys */
export const NewApiKeyBody = t.Object({
  name: t.String({ maxLength: 400, examples: ["backup"], description: "1 to 100 characters" }),
  scopes: t.Optional(
    t.Array(t.Union(SCOPES.map((scope) => t.Literal(scope))), {
      maxItems: 20,
      description: `${DEFAULT_SCOPES.join(", ")} by default; admin is for administrators`,
    }),
  ),
  expiresAt: t.Optional(
    t.Union([t.String({ maxLength: 40 }), t.Null()], {
      description: "ISO 8601 with its offset; by default the key does not expire",
    }),
  ),
  ...PROOF_FIELDS,
});

/** An entry of GET /api/users/api-keys */
export const ApiKeyRecord = t.Object({
  id: t.String(),
  name: t.String(),
  prefix: t.String({ examples: ["lk_Xv3k9Q"], description: "First characters of the key" }),
  scopes: t.Array(ScopeName),
  createdAt: Timestamp,
  lastUsedAt: TimestampOrNull,
  expiresAt: TimestampOrNull,
});

/** Response of POST /api/users/api-keys */
export const NewApiKeyRecord = t.Intersect([
  ApiKeyRecord,
  t.Object({ key: t.String({ description: "The key; shown only in this response" }) }),
]);
