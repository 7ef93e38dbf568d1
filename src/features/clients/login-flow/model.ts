import { t } from "elysia";
import { Timestamp } from "../../../http/fields.ts";
import { PROOF_FIELDS } from "../../accounts/auth/model.ts";

/** Path parameters of a sign-in. */
export const LoginFlowParams = t.Object({ token: t.String({ maxLength: 64 }) });

/** POST /api/users/login-flows/{token} */
export const AgreementBody = t.Object({
  name: t.Optional(t.String({ maxLength: 400 })),
  access: t.Optional(t.Union([t.Literal("read"), t.Literal("write")])),
  folder: t.Optional(t.String({ maxLength: 20_000 })),
  ...PROOF_FIELDS,
});

/** GET /api/users/login-flows/{token} */
export const LoginFlowRecord = t.Object({
  program: t.String(),
  address: t.String(),
  createdAt: Timestamp,
  expiresAt: Timestamp,
});

/** Response of POST /api/users/login-flows/{token} */
export const AgreementRecord = t.Object({ redirect: t.Union([t.String(), t.Null()]) });

/** The body with which a program asks for the result. */
export const PollBody = t.Object({ token: t.String({ maxLength: 64 }) });
