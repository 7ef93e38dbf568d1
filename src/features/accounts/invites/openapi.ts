/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { InvitePageRecord, LIMIT_DEFAULT, LIMIT_MAX, NewInviteRecord } from "./model.ts";
import { PROOF_ERRORS } from "../auth/confirm-routes.ts";
import { t } from "elysia";

export const createInvite = (): RouteDocs => ({
  tag: "Administration",
  summary: "Invite somebody",
  description:
    "Makes one account, of this role and plan, by `invite` in POST /api/auth/signup or on the page at `url`; also " +
    "where sign-up is open, not where it is closed. Bound to `email` where given, and sent there where mail is " +
    "configured. Inviting an administrator needs proof: `currentPassword` (and `code`), or a confirmed session; an " +
    "API key can't.",
  status: 201,
  data: NewInviteRecord,
  errors: ["email_taken", ...PROOF_ERRORS],
});

export const listInvites = (): RouteDocs => ({
  tag: "Administration",
  summary: "Invitations, newest first",
  description: "Without their codes: those are shown once, when they are created.",
  data: InvitePageRecord,
  errors: ["invalid_field"],
  query: {
    page: { type: "integer", minimum: 1, default: 1 },
    limit: { type: "integer", minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT },
  },
});

export const revokeInvite = (): RouteDocs => ({
  tag: "Administration",
  summary: "Take an invitation back",
  description: "An account that it made stays.",
  data: t.Object({ id: t.String() }),
  errors: ["not_found", "invalid_field"],
});
