import { invalidField } from "../../../errors.ts";
import { noteAudit } from "../../../http/audit-note.ts";
import { ok } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { IdParams } from "../../../http/fields.ts";
import { type Clock, toTimestamp } from "../../../lib/clock.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { type ContentSender, downloadBy } from "../files/content-sender.ts";
import { presentContextOf, presentUploaded } from "../files/present.ts";
import { preconditionOf } from "../files/routes.ts";
import type { RateGate } from "../../accounts/rate-limits/guard.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";
import { CHANGE_FILES, READ_FILES } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { VersionParams } from "./model.ts";
import { presentVersion } from "./present.ts";
import type { VersionService } from "./service.ts";

/** Dependencies of the routes of versions. */
export interface VersionRoutesOptions {
  readonly versions: VersionService;
  readonly sender: ContentSender;
  readonly rateGate: RateGate;
  readonly guard: ReturnType<typeof authGuard>;
  readonly clock: Clock;
  readonly hasThumbnail: (file: FileNode) => boolean;
}

/** /api/files/{id}/versions */
export function versionRoutes({ versions, sender, rateGate, guard, clock, hasThumbnail }: VersionRoutesOptions) {
  return new Router({ prefix: "/api/files", guard })
    .get("/:id/versions", { ...READ_FILES, docs: docs.list, params: IdParams }, ({ principal, params, request }) => {
      const { baseUrl } = requestContextOf(request);
      const found = versions.list(principal.user, params.id);
      return ok({ versions: found.map((version) => presentVersion(params.id, version, baseUrl)) });
    })
    .get(
      "/:id/versions/:version/download",
      {
        access: "reader",
        scope: "files:read",
        rate: { category: "downloads", thumbnails: "general" },
        audit: "unaudited",
        docs: docs.download,
        params: VersionParams,
      },
      ({ principal, params, request, set }) => {
        const file = versions.open(principal.user, params.id, readVersion(params.version));
        return sender.send(file, downloadBy({ principal, request, set }, rateGate));
      },
    )
    .post(
      "/:id/versions/:version/restore",
      {
        ...CHANGE_FILES,
        audit: { action: "version.restore", target: "file", targetParam: "id", files: "all" },
        docs: docs.restore,
        params: VersionParams,
      },
      async ({ principal, params, request }) => {
        const version = readVersion(params.version);
        const file = await versions.restore(principal.user, params.id, version, preconditionOf(request));
        return ok(presentUploaded(file, presentContextOf(request, hasThumbnail)), `Version ${version} was restored.`);
      },
    )
    .delete(
      "/:id/versions/:version",
      {
        ...CHANGE_FILES,
        audit: { action: "version.delete", target: "file", targetParam: "id", files: "changes" },
        docs: docs.remove,
        params: VersionParams,
      },
      async ({ principal, params, request }) => {
        const { dropped, owner } = await versions.delete(principal.user, params.id, readVersion(params.version));
        noteAudit(request, { subjectId: owner.publicId });
        return ok(
          { id: params.id, version: dropped.version, deletedAt: toTimestamp(clock.nowMs()) },
          "The version was deleted permanently.",
        );
      },
    );
}

/** @throws AppError invalid_field */
function readVersion(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) {
    throw invalidField(
      "version",
      say`version must be a whole number of at least 1. To list the versions, use GET …/versions.`,
    );
  }
  return Number(text);
}
