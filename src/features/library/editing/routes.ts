import { AppError } from "../../../errors.ts";
import { ok } from "../../../http/envelope.ts";
import { IdParams } from "../../../http/fields.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { READ_FILES } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import type { UserService } from "../../accounts/users/service.ts";
import type { User } from "../../accounts/users/types.ts";
import type { Permissions } from "../permissions/permissions.ts";
import * as docs from "./openapi.ts";

/** Dependencies of {@link editingRoutes}. */
export interface EditingRoutesOptions {
  readonly permissions: Permissions;
  readonly tree: TreeReader;
  readonly users: Pick<UserService, "findById">;
  readonly guard: ReturnType<typeof authGuard>;
}

/** GET /api/files/{id}/editing: for editors, before a person begins to type. */
export function editingRoutes({ permissions, tree, users, guard }: EditingRoutesOptions) {
  /** Only the owner of the tree learns who else locked it; everybody learns that the owner or they themselves did. */
  const personOf = (creatorId: number, user: User, owner: User) =>
    owner.id === user.id || creatorId === owner.id || creatorId === user.id
      ? (users.findById(creatorId)?.name ?? null)
      : null;

  return new Router({ prefix: "/api/files", guard }).get(
    "/:id/editing",
    { ...READ_FILES, docs: docs.editing, params: IdParams },
    ({ principal: { user }, params }) => {
      const { node, owner } = permissions.file(user, params.id, "read");
      const [lock] = tree.locks.on([node]).get(node.id) ?? [];
      return ok({
        canWrite: user.role !== "viewer" && mayWrite(permissions, user, node),
        lock:
          lock === undefined
            ? null
            : {
                // Often the name of the device of the person who locked it: nobody else learns it here.
                program: lock.createdBy === user.id ? lock.program : null,
                person: personOf(lock.createdBy, user, owner),
                expiresAt: toTimestamp(lock.expiresAtMs),
              },
      });
    },
  );
}

function mayWrite(permissions: Permissions, user: User, { publicId }: FileNode): boolean {
  try {
    permissions.file(user, publicId, "write");
    return true;
  } catch (error) {
    if (error instanceof AppError && error.reason === "share_permission") return false;
    throw error;
  }
}
