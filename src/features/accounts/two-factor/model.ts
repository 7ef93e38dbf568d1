import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { PROOF_FIELDS } from "../auth/model.ts";

/** POST /api/users/two-factor/enable */
export const EnableBody = t.Object({ code: t.String({ maxLength: 64, examples: ["123456"] }) });

/** POST /api/users/two-factor/disable and /recovery-codes */
export const FactorProofBody = t.Object({
  ...PROOF_FIELDS,
  recoveryCode: t.Optional(t.String({ maxLength: 64, description: "Instead of code" })),
});

/** GET /api/users/two-factor */
export const TwoFactorRecord = t.Object({
  enabled: t.Boolean(),
  recoveryCodesLeft: Type.Integer({ minimum: 0 }),
  passkeys: Type.Integer({ minimum: 0 }),
});

/** Response of POST /api/users/two-factor/setup */
export const SetUpRecord = t.Object({
  secret: t.String({ description: "Base 32, to type into an authenticator app" }),
  otpauthUrl: t.String({ description: "The same as a URI, to show as a QR code" }),
});

/** Response of enable and recovery-codes */
export const RecoveryCodesRecord = t.Object({
  recoveryCodes: t.Array(t.String({ examples: ["7k3m-0p9x-ab4t-qz82"] }), {
    description: "Shown only in this response",
  }),
});
