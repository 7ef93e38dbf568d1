/** /api/users/avatars, /api/users/avatar, /api/users/{id}/avatar, and the removal by administrators. */
import { AppError, notFound } from "../../../errors.ts";
import { noteAudit } from "../../../http/audit-note.ts";
import { ok } from "../../../http/envelope.ts";
import { IdParams, queryOf, readChoice } from "../../../http/fields.ts";
import { say } from "../../../translations/say.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { ADMIN_ROUTE } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import type { UserService } from "../../accounts/users/service.ts";
import { incomingBytes } from "../../library/files/incoming.ts";
import { sendAvatar } from "./avatar-sender.ts";
import * as docs from "./openapi.ts";
import type { AvatarService } from "./service.ts";

/** Dependencies of the routes of pictures of people. */
export interface AvatarRoutesOptions {
  readonly avatars: AvatarService;
  readonly users: Pick<UserService, "findByPublicId">;
  readonly guard: ReturnType<typeof authGuard>;
}

const IMAGE_BYTES_MAX = 5 * 1024 * 1024;

/** Never with an API key: a key that leaked must not list the people of a server. */
const READ = { access: "self", scope: "never", rate: "general", audit: "unaudited" } as const;
const CHANGE = { access: "self", scope: "never", rate: "profile", audit: { action: "profile.change" } } as const;

/** The pictures of oneself and of others. */
export function avatarRoutes({ avatars, guard }: Pick<AvatarRoutesOptions, "avatars" | "guard">) {
  return new Router({ prefix: "/api/users", guard })
    .get("/avatars", { ...READ, docs: docs.list }, ({ principal }) => ok({ people: avatars.visibleTo(principal.user) }))
    .put("/avatar", { ...CHANGE, parse: "none", docs: docs.set }, async ({ request, principal }) => {
      const { user } = principal;
      noteAudit(request, { details: { picture: "changed" } });
      await avatars.set(user, () => readImage(request));
      return ok({ avatar: presentVersion(avatars.versionOf(user.id)) });
    })
    .delete("/avatar", { ...CHANGE, docs: docs.remove }, async ({ request, principal }) => {
      noteAudit(request, { details: { picture: "removed" } });
      await avatars.remove(principal.user.id);
      return ok({ avatar: null });
    })
    .get("/:id/avatar", { ...READ, docs: docs.get, params: IdParams }, ({ request, set, principal, params }) => {
      const { size: wished, v } = queryOf(request);
      const size = readChoice(wished, "size", ["64", "256"]) ?? "256";
      const avatar = avatars.find(principal.user, params.id, size);
      if (avatar === undefined) throw notFound(say`This picture was not found.`);
      return sendAvatar({ request, avatar, size, isImmutable: v === avatar.version, commonHeaders: set.headers });
    });
}

/** The removal of a picture by administrators. */
export function avatarAdminRoutes({ avatars, users, guard }: AvatarRoutesOptions) {
  return new Router({ prefix: "/api/admin/users", guard }).delete(
    "/:id/avatar",
    {
      ...ADMIN_ROUTE,
      scope: "never",
      audit: { action: "user.remove_avatar", target: "user", targetParam: "id" },
      docs: docs.removeOf,
      params: IdParams,
    },
    async ({ params }) => {
      const user = users.findByPublicId(params.id);
      if (user === undefined || !(await avatars.remove(user.id))) throw notFound(say`This picture was not found.`);
      return ok({ avatar: null });
    },
  );
}

function presentVersion(version: string | null) {
  return version === null ? null : { version };
}

/** @throws AppError file_too_large above 5 MB, before the body is read if it declares its size */
async function readImage(request: Request): Promise<Uint8Array> {
  // As slow as a guest's file may be, and no slower: the image is in memory while it arrives.
  const { declaredBytes = 0, read } = incomingBytes(request, "guestFile");
  if (declaredBytes > IMAGE_BYTES_MAX) throw tooLarge();
  const buffers: Uint8Array[] = [];
  let sizeBytes = 0;
  await read((bytes) => {
    sizeBytes += bytes.length;
    if (sizeBytes > IMAGE_BYTES_MAX) throw tooLarge();
    buffers.push(Uint8Array.from(bytes));
  });
  return Buffer.concat(buffers);
}

function tooLarge(): AppError {
  return new AppError("file_too_large", say`Your picture can have at most 5 MB. Choose a smaller one.`, {
    limit: IMAGE_BYTES_MAX,
  });
}
