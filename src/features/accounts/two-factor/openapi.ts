/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { PROOF_ERRORS } from "../auth/confirm-routes.ts";
import { RecoveryCodesRecord, SetUpRecord, TwoFactorRecord } from "./model.ts";
import { t } from "elysia";

export const status = (): RouteDocs => ({
  tag: "Users",
  summary: "Get the state of two-factor authentication",
  description: "Includes the number of unused recovery codes.",
  data: TwoFactorRecord,
});

export const setUp = (): RouteDocs => ({
  tag: "Users",
  summary: "Start to set up two-factor authentication",
  description:
    "Returns a secret for an authenticator app (TOTP, RFC 6238: SHA-1, 6 digits, 30 seconds). It takes effect " +
    "after a code made from it is sent to …/enable within an hour. Needs proof, as do …/disable and " +
    "…/recovery-codes: `currentPassword` (and `code`), or a confirmed session.",
  data: SetUpRecord,
  errors: ["invalid_request", ...PROOF_ERRORS],
});

export const enable = (): RouteDocs => ({
  tag: "Users",
  summary: "Turn on two-factor authentication",
  description: "Returns ten recovery codes. Each works once in place of a code. Sessions and API keys stay valid.",
  data: RecoveryCodesRecord,
  errors: ["invalid_code", "invalid_request"],
});

export const disable = (): RouteDocs => ({
  tag: "Users",
  summary: "Turn off two-factor authentication",
  description: "The recovery codes stop working.",
  data: t.Object({ enabled: t.Boolean() }),
  errors: ["invalid_request", ...PROOF_ERRORS],
});

export const renewRecoveryCodes = (): RouteDocs => ({
  tag: "Users",
  summary: "Replace all recovery codes",
  description: "The previous codes stop working.",
  data: RecoveryCodesRecord,
  errors: ["invalid_request", ...PROOF_ERRORS],
});
