/** Texts of these routes in the OpenAPI document. */
import { t } from "elysia";
import type { RouteDocs } from "../../../http/documented.ts";
import { PROOF_ERRORS } from "../../accounts/auth/confirm-routes.ts";
import { AgreementRecord, LoginFlowRecord } from "./model.ts";

export const showLoginFlow = (): RouteDocs => ({
  tag: "Users",
  summary: "Show a program's sign-in",
  data: LoginFlowRecord,
  errors: ["not_found", "invalid_field"],
});

export const agreeToLoginFlow = (): RouteDocs => ({
  tag: "Users",
  summary: "Give the program an app password",
  data: AgreementRecord,
  errors: ["not_found", "invalid_field", "role", "invalid_request", "invalid_path", ...PROOF_ERRORS],
});

export const denyLoginFlow = (): RouteDocs => ({
  tag: "Users",
  summary: "Deny a program's sign-in",
  data: t.Object({}),
  errors: ["not_found", "invalid_field"],
});
