import { ok } from "../../../http/envelope.ts";
import { IdParams } from "../../../http/fields.ts";
import { ROOT_PATH } from "../../../lib/path.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { READ_FILES } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import type { User } from "../../accounts/users/types.ts";
import { PinBody } from "./model.ts";
import * as docs from "./openapi.ts";
import type { PinService } from "./service.ts";
import type { Pin } from "./types.ts";

/** Dependencies of the routes of pins. */
export interface PinRoutesOptions {
  readonly pins: PinService;
  readonly guard: ReturnType<typeof authGuard>;
}

/** Changes only what the account itself sees, so viewers may too. */
const CHANGE_PINS = { access: "reader", scope: "files:write", rate: "operations", audit: "unaudited" } as const;

/** /api/pins */
export function pinRoutes({ pins, guard }: PinRoutesOptions) {
  const list = async (user: User) => ok({ pins: (await pins.list(user)).map(present) });
  return new Router({ prefix: "/api/pins", guard })
    .get("/", { ...READ_FILES, rate: "listing", docs: docs.list }, ({ principal }) => list(principal.user))
    .put(
      "/:id",
      { ...CHANGE_PINS, docs: docs.add, params: IdParams, body: PinBody, isBodyOptional: true },
      async ({ principal, params, body }) => {
        await pins.add(principal.user, params.id, body.before);
        return list(principal.user);
      },
    )
    .delete("/:id", { ...CHANGE_PINS, docs: docs.remove, params: IdParams }, async ({ principal, params }) => {
      await pins.remove(principal.user, params.id);
      return list(principal.user);
    });
}

function present(pin: Pin) {
  const { owner } = pin;
  const by = { owner: owner === undefined ? null : { id: owner.publicId, name: owner.name, email: owner.email } };
  if ("album" in pin) return { id: pin.album.publicId, type: "album" as const, name: pin.album.name, ...by };
  const { folder, share } = pin;
  // The root folder of its owner has no name of its own.
  const name = folder.name === ROOT_PATH ? "Files" : folder.name;
  const location = { path: folder.path, ...(share !== undefined && { share }) };
  return { id: folder.publicId, type: "folder" as const, name, ...location, ...by };
}
