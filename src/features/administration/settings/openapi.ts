/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { PROOF_ERRORS } from "../../accounts/auth/confirm-routes.ts";
import { SettingsRecord, TestMailRecord } from "./model.ts";

export const listSettings = (): RouteDocs => ({
  tag: "Administration",
  summary: "List the settings that can be changed",
  description: "Flags, variables and larder.toml have precedence: what they set is shown, and can't be changed here.",
  data: SettingsRecord,
});

export const changeSettings = (): RouteDocs => ({
  tag: "Administration",
  summary: "Change settings",
  description:
    "All of the values apply at once, or none. Needs proof: see POST /api/auth/confirm. `details.field` is the key of " +
    "a value that is rejected. Never loosens the limits of wrong passwords.",
  data: SettingsRecord,
  errors: ["invalid_field", "forbidden_target", ...PROOF_ERRORS],
});

export const testMail = (): RouteDocs => ({
  tag: "Administration",
  summary: "Send a test email",
  description: "To the email of your own account. The result does not include why a server could not be reached.",
  data: TestMailRecord,
  errors: ["invalid_request", ...PROOF_ERRORS],
});
