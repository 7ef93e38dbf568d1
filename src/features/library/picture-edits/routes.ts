import { AppError } from "../../../errors.ts";
import { ok } from "../../../http/envelope.ts";
import { IdParams } from "../../../http/fields.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";
import { type authGuard, uploaderOf } from "../../accounts/auth/guard.ts";
import { Router } from "../../accounts/routing/router.ts";
import { presentContextOf, presentUploaded } from "../files/present.ts";
import { preconditionOf } from "../files/routes.ts";
import { EditBody } from "./model.ts";
import * as docs from "./openapi.ts";
import type { PictureEdits } from "./service.ts";

/** Dependencies of the routes that edit pictures. */
export interface PictureEditRoutesOptions {
  readonly pictureEdits: PictureEdits;
  readonly guard: ReturnType<typeof authGuard>;
  readonly hasThumbnail: (file: FileNode) => boolean;
  /** Disables the idle timeout of a request. */
  readonly allowLong: (request: Request) => void;
}

/** POST /api/files/{id}/edit. */
export function pictureEditRoutes({ pictureEdits, guard, hasThumbnail, allowLong }: PictureEditRoutesOptions) {
  return new Router({ prefix: "/api/files", guard }).post(
    "/:id/edit",
    {
      access: "writer",
      scope: "files:write",
      rate: "uploads",
      audit: { action: "file.replace", target: "file", targetParam: "id", files: "all" },
      docs: docs.edit,
      params: IdParams,
      body: EditBody,
    },
    async ({ params, body, request }) => {
      const { rotate, crop } = body;
      if (rotate === undefined && crop === undefined) {
        throw new AppError("invalid_field", say`Set rotate, crop, or both.`, { field: "rotate" });
      }
      allowLong(request);
      const file = await pictureEdits.edit(uploaderOf(request), params.id, { rotate, crop }, preconditionOf(request));
      return ok(presentUploaded(file, presentContextOf(request, hasThumbnail)));
    },
  );
}
