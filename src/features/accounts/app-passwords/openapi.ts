/** Texts of these routes in the OpenAPI document. */
import { t } from "elysia";
import type { RouteDocs } from "../../../http/documented.ts";
import { PROOF_ERRORS } from "../auth/confirm-routes.ts";
import { NewAppPasswordRecord, OwnAppPasswordList } from "./model.ts";

export const createAppPassword = (): RouteDocs => ({
  tag: "Users",
  summary: "Create an app password",
  description: "For WebDAV and sync programs, by HTTP Basic. Viewers get `read`. Needs proof.",
  status: 201,
  data: NewAppPasswordRecord,
  errors: ["role", "invalid_request", "invalid_path", "not_found", ...PROOF_ERRORS],
});

export const listAppPasswords = (): RouteDocs => ({
  tag: "Users",
  summary: "List your app passwords, newest first",
  data: OwnAppPasswordList,
});

export const deleteAppPassword = (): RouteDocs => ({
  tag: "Users",
  summary: "Delete an app password",
  data: t.Object({ id: t.String() }),
  errors: ["not_found", "invalid_field"],
});
