import { t } from "elysia";
import { Timestamp } from "../../../http/fields.ts";
import { PROOF_FIELDS } from "../auth/model.ts";

const TimestampOrNull = t.Union([Timestamp, t.Null()]);
const Access = t.Union([t.Literal("read"), t.Literal("write")]);

/** POST /api/users/app-passwords */
export const NewAppPasswordBody = t.Object({
  name: t.String({ maxLength: 400, description: "1 to 100 characters" }),
  access: t.Optional(Access),
  folder: t.Optional(t.String({ maxLength: 20_000, description: "The only folder that it opens" })),
  expiresAt: t.Optional(t.Union([t.String({ maxLength: 40 }), t.Null()])),
  ...PROOF_FIELDS,
});

/** An entry of GET /api/users/app-passwords */
export const AppPasswordRecord = t.Object({
  id: t.String(),
  name: t.String(),
  access: Access,
  createdAt: Timestamp,
  expiresAt: TimestampOrNull,
  lastUsedAt: TimestampOrNull,
  lastAddress: t.Union([t.String(), t.Null()]),
  lastClient: t.Union([t.String(), t.Null()]),
  folder: t.Union([t.String(), t.Null()], { description: "Null if it is gone, and for administrators" }),
});

/** The list for administrators */
export const AppPasswordList = t.Object({ appPasswords: t.Array(AppPasswordRecord) });

/** GET /api/users/app-passwords */
export const OwnAppPasswordList = t.Object({
  appPasswords: t.Array(AppPasswordRecord),
  url: t.String({ description: "The WebDAV address, for programs" }),
});

/** Response of POST /api/users/app-passwords */
export const NewAppPasswordRecord = t.Intersect([
  AppPasswordRecord,
  t.Object({
    username: t.String(),
    password: t.String({ description: "Shown only in this response" }),
    url: t.String(),
  }),
]);
