/** Texts of these routes in the OpenAPI document. */
import { t } from "elysia";
import type { RouteDocs } from "../../../http/documented.ts";
import { PROOF_ERRORS } from "../auth/confirm-routes.ts";
import { GroupPageRecord, GroupRecord, LIMIT_DEFAULT, LIMIT_MAX, MemberPageRecord } from "./model.ts";

const tag = "Administration";
const PAGE = {
  page: { type: "integer", minimum: 1, default: 1 },
  limit: { type: "integer", minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT },
} as const;
const MembershipRecord = t.Object({ id: t.String(), userId: t.String() });

export const listGroups = (): RouteDocs => ({
  tag,
  summary: "List groups, by name",
  data: GroupPageRecord,
  errors: ["invalid_field"],
  query: PAGE,
});

export const createGroup = (): RouteDocs => ({
  tag,
  summary: "Create a group",
  description: "A share with a group is for everybody who is a member at the time.",
  status: 201,
  data: GroupRecord,
  errors: ["invalid_field", "name_taken", "invalid_request"],
});

export const getGroup = (): RouteDocs => ({ tag, summary: "Get a group", data: GroupRecord, errors: ["not_found"] });

export const renameGroup = (): RouteDocs => ({
  tag,
  summary: "Rename a group",
  data: GroupRecord,
  errors: ["invalid_field", "name_taken", "not_found"],
});

export const deleteGroup = (): RouteDocs => ({
  tag,
  summary: "Delete a group",
  description: "The shares that are for the group end. No account and no file is deleted.",
  data: t.Object({ id: t.String() }),
  errors: ["not_found"],
});

export const listMembers = (): RouteDocs => ({
  tag,
  summary: "List the members of a group, by name",
  data: MemberPageRecord,
  errors: ["invalid_field", "not_found"],
  query: PAGE,
});

export const addMember = (): RouteDocs => ({
  tag,
  summary: "Add an account to a group",
  description:
    "It has what is shared with the group at once. Because this gives access to files of others, proof is needed: " +
    "`currentPassword` (and `code`), or a confirmed session. No change if it is a member already.",
  data: MembershipRecord,
  errors: ["invalid_field", "invalid_request", "not_found", ...PROOF_ERRORS],
});

export const removeMember = (): RouteDocs => ({
  tag,
  summary: "Remove an account from a group",
  description: "It loses what is shared with the group at once, in all programs.",
  data: MembershipRecord,
  errors: ["not_found"],
});
