/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { PROOF_ERRORS } from "../auth/confirm-routes.ts";
import { RecoveryCodesRecord, SetUpRecord, TwoFactorRecord } from "./model.ts";
import { t } from "elysia";

export const status = (): RouteDocs => ({
  tag: "Users",
  summary: "Whether sign-in asks for a second factor",
  description: "Also says how many recovery codes are unused.",
  data: TwoFactorRecord,
});

export const setUp = (): RouteDocs => ({
  tag: "Users",
  summary: "Begin to set up two-factor sign-in",
  description:
    "Gives a secret for an authenticator app (TOTP, RFC 6238: SHA-1, 6 digits, 30 seconds). It is in force once " +
    "…/enable has seen a code made from it, within an hour. Needs proof, as …/disable and …/recovery-codes do: " +
    "`currentPassword` (and `code`), or a confirmed session.",
  data: SetUpRecord,
  errors: ["invalid_request", ...PROOF_ERRORS],
});

export const enable = (): RouteDocs => ({
  tag: "Users",
  summary: "Put two-factor sign-in in force",
  description: "Gives ten recovery codes, each good once in place of a code. Sessions and API keys stay as they are.",
  data: RecoveryCodesRecord,
  errors: ["invalid_code", "invalid_request"],
});

export const disable = (): RouteDocs => ({
  tag: "Users",
  summary: "Switch two-factor sign-in off",
  description: "The recovery codes end too.",
  data: t.Object({ enabled: t.Boolean() }),
  errors: ["invalid_request", ...PROOF_ERRORS],
});

export const renewRecoveryCodes = (): RouteDocs => ({
  tag: "Users",
  summary: "New recovery codes in place of all former ones",
  description: "The previous codes stop working.",
  data: RecoveryCodesRecord,
  errors: ["invalid_request", ...PROOF_ERRORS],
});
