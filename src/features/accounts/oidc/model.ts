import { t } from "elysia";
import { Timestamp } from "../../../http/fields.ts";
import { PROOF_FIELDS } from "../auth/model.ts";

/** POST /api/auth/oidc/token */
export const CodeBody = t.Object({
  code: t.String({ minLength: 1, maxLength: 200, description: "The code at the end of the sign-in" }),
  verifier: t.Optional(
    t.String({ maxLength: 1024, description: "Its sha256 was the `challenge`; required if there was one" }),
  ),
  cookie: t.Optional(t.Boolean({ description: "Also sets the session cookie, for browsers" })),
});

const ReturnTo = t.String({ description: "Path on this server where the browser is sent at the end" });

/** POST /api/auth/confirm/provider */
export const ProviderConfirmBody = t.Object({ returnTo: t.Optional(ReturnTo) });

/** POST and DELETE /api/auth/oidc/link */
export const LinkBody = t.Object({
  password: t.Optional(t.String({ maxLength: 2048, description: "The same as currentPassword" })),
  ...PROOF_FIELDS,
  returnTo: t.Optional(ReturnTo),
});

/** GET /api/auth/oidc/link */
export const Identity = t.Object({
  issuer: t.String({ description: "The provider" }),
  createdAt: Timestamp,
});

/** GET /api/auth/methods */
export const Methods = t.Object({
  password: t.Boolean(),
  signup: t.String({ enum: ["open", "invite", "closed"] }),
  oidc: t.Union([t.Object({ name: t.String({ description: "Label of the button" }), startUrl: t.String() }), t.Null()]),
  passkeys: t.Boolean(),
  mail: t.Boolean({ description: "Whether a new password can be requested by email" }),
  isSetUp: t.Boolean({
    description: "Whether there is an account; the first one is created with the link in the server's log",
  }),
});
