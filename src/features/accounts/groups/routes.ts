/** /api/admin/groups: groups and their members. */
import { noteAudit } from "../../../http/audit-note.ts";
import { ok, paginate } from "../../../http/envelope.ts";
import { IdParams, queryOf, readInteger } from "../../../http/fields.ts";
import type { authGuard } from "../auth/guard.ts";
import { WITH_PROOF } from "../auth/model.ts";
import type { ProofService } from "../auth/proof.ts";
import { ADMIN_READ, ADMIN_ROUTE } from "../routing/declaration.ts";
import { Router } from "../routing/router.ts";
import * as docs from "./openapi.ts";
import { GroupBody, LIMIT_DEFAULT, LIMIT_MAX, MemberParams } from "./model.ts";
import { presentGroup, presentMember } from "./present.ts";
import type { GroupService } from "./service.ts";

/** Dependencies of the routes of groups. */
export interface GroupRoutesOptions {
  readonly groups: GroupService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly proof: ProofService;
}

const PAGE_MAX = Math.floor(Number.MAX_SAFE_INTEGER / LIMIT_MAX);

/** The groups. */
export function groupRoutes({ groups, guard }: Omit<GroupRoutesOptions, "proof">) {
  return new Router({ prefix: "/api/admin/groups", guard })
    .get("/", { ...ADMIN_READ, docs: docs.listGroups }, ({ request }) => {
      const { page, limit } = readPage(request);
      const { groups: found, total } = groups.list(limit, (page - 1) * limit);
      return ok({ groups: found.map(presentGroup), pagination: paginate(page, limit, total) });
    })
    .post(
      "/",
      { ...ADMIN_ROUTE, audit: { action: "group.create", target: "group" }, docs: docs.createGroup, body: GroupBody },
      async ({ request, set, body }) => {
        const group = await groups.add(body.name);
        noteAudit(request, { details: { name: group.name } });
        set.status = 201;
        return ok(presentGroup(group));
      },
    )
    .get("/:id", { ...ADMIN_READ, docs: docs.getGroup, params: IdParams }, ({ params }) =>
      ok(presentGroup(groups.get(params.id))),
    )
    .patch(
      "/:id",
      {
        ...ADMIN_ROUTE,
        audit: { action: "group.change", target: "group", targetParam: "id" },
        docs: docs.renameGroup,
        params: IdParams,
        body: GroupBody,
      },
      async ({ request, params, body }) => {
        const { name: nameBefore } = groups.get(params.id);
        const group = await groups.rename(params.id, body.name);
        noteAudit(request, { details: { name: group.name, nameBefore } });
        return ok(presentGroup(group));
      },
    )
    .delete(
      "/:id",
      {
        ...ADMIN_ROUTE,
        audit: { action: "group.delete", target: "group", targetParam: "id" },
        docs: docs.deleteGroup,
        params: IdParams,
      },
      async ({ request, params }) => {
        const { name, members, shares } = await groups.remove(params.id);
        noteAudit(request, { details: { name, members, shares } });
        return ok({ id: params.id }, "The group was deleted. Its shares have ended.");
      },
    );
}

/** The members of a group. API keys can't add any, because that gives access to files. */
export function memberRoutes({ groups, guard, proof }: GroupRoutesOptions) {
  return new Router({ prefix: "/api/admin/groups", guard })
    .get("/:id/members", { ...ADMIN_READ, docs: docs.listMembers, params: IdParams }, ({ request, params }) => {
      const { page, limit } = readPage(request);
      const { members, total } = groups.members(params.id, limit, (page - 1) * limit);
      return ok({ members: members.map(presentMember), pagination: paginate(page, limit, total) });
    })
    .put(
      "/:id/members/:userId",
      {
        ...ADMIN_ROUTE,
        ...WITH_PROOF,
        scope: "never",
        audit: { action: "group.add_member", target: "group", targetParam: "id", accountParam: "userId" },
        docs: docs.addMember,
        params: MemberParams,
      },
      async ({ request, set, principal, body, params }) => {
        noteAudit(request, { details: { name: groups.get(params.id).name } });
        const checkProof = await proof.require("admin", { request, set, principal, body });
        await groups.addMember(params.id, params.userId, checkProof);
        return ok({ id: params.id, userId: params.userId });
      },
    )
    .delete(
      "/:id/members/:userId",
      {
        ...ADMIN_ROUTE,
        audit: { action: "group.remove_member", target: "group", targetParam: "id", accountParam: "userId" },
        docs: docs.removeMember,
        params: MemberParams,
      },
      async ({ request, params }) => {
        noteAudit(request, { details: { name: groups.get(params.id).name } });
        await groups.removeMember(params.id, params.userId);
        return ok({ id: params.id, userId: params.userId }, "The account is no longer a member.");
      },
    );
}

function readPage(request: Request): { readonly page: number; readonly limit: number } {
  const query = queryOf(request);
  return {
    page: readInteger(query, "page", { min: 1, max: PAGE_MAX, default: 1 }),
    limit: readInteger(query, "limit", { min: 1, max: LIMIT_MAX, default: LIMIT_DEFAULT }),
  };
}
