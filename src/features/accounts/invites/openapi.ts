/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { InvitePageRecord, LIMIT_DEFAULT, LIMIT_MAX, NewInviteRecord } from "./model.ts";
import { PROOF_ERRORS } from "../auth/confirm-routes.ts";
import { t } from "elysia";

export const createInvite = (): RouteDocs => ({
  tag: "Administration",
  summary: "Create an invitation",
  description:
    "An invitation creates one account with this role and plan. Use it as `invite` in POST /api/auth/signup, or on " +
    "the page at `url`. It does not work if sign-up is closed. With `email`, it is valid for that address only, and " +
    "is sent there if the server can send email. To invite an administrator, proof is needed: `currentPassword` (and " +
    "`code`), or a confirmed session. An API key cannot invite administrators.",
  status: 201,
  data: NewInviteRecord,
  errors: ["email_taken", ...PROOF_ERRORS],
});

export const listInvites = (): RouteDocs => ({
  tag: "Administration",
  summary: "List invitations, newest first",
  description: "The codes are not included: each is shown once, when it is created.",
  data: InvitePageRecord,
  errors: ["invalid_field"],
  query: {
    page: { type: "integer", minimum: 1, default: 1 },
    limit: { type: "integer", minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT },
  },
});

export const revokeInvite = (): RouteDocs => ({
  tag: "Administration",
  summary: "Revoke an invitation",
  description: "An account that was created with it stays.",
  data: t.Object({ id: t.String() }),
  errors: ["not_found", "invalid_field"],
});
