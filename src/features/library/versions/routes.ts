import { Elysia } from "elysia";
import { invalidField } from "../../../errors.ts";
import { noteAudit } from "../../../http/audit-note.ts";
import { documented, ref } from "../../../http/documented.ts";
import { ok } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { IdParams, readQuery } from "../../../http/fields.ts";
import { type Clock, toTimestamp } from "../../../lib/clock.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import type { Principal } from "../../accounts/auth/principal.ts";
import type { ContentRequest, ContentSender } from "../files/content-sender.ts";
import { DOWNLOAD_DOCUMENTATION } from "../files/model.ts";
import { presentUploaded } from "../files/present.ts";
import { preconditionOf } from "../files/routes.ts";
import type { RateGate } from "../../accounts/rate-limits/guard.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { DeletedVersionRecord, VersionParams, VersionsRecord } from "./model.ts";
import { presentVersion } from "./present.ts";
import type { VersionService } from "./service.ts";

/** What the routes of versions work with. */
export interface VersionRoutesOptions {
  readonly versions: VersionService;
  readonly sender: ContentSender;
  readonly rateGate: RateGate;
  readonly guard: ReturnType<typeof authGuard>;
  readonly clock: Clock;
  readonly hasThumbnail: (file: FileNode) => boolean;
}

/** /api/files/{id}/versions… (contract §4, Versions). */
export function versionRoutes({ versions, sender, rateGate, guard, clock, hasThumbnail }: VersionRoutesOptions) {
  const send = (
    principal: Principal,
    params: typeof VersionParams.static,
    request: Request,
    set: ContentRequest["set"],
  ) =>
    sender.send(versions.open(principal.user, params.id, readVersion(params.version)), {
      request,
      set,
      query: readQuery(requestContextOf(request).query),
      callerKey: `u:${principal.user.id}`,
      countWhole: () => rateGate.countWholeDownload(request, set.headers),
    });
  return new Elysia({ name: "version-routes", prefix: "/api/files" })
    .use(guard)
    .get(
      "/:id/versions",
      ({ principal, params, request }) => {
        const { baseUrl } = requestContextOf(request);
        const found = versions.list(principal.user, params.id);
        return ok({ versions: found.map((version) => presentVersion(params.id, version, baseUrl)) });
      },
      {
        access: "reader",
        params: IdParams,
        ...documented({
          tag: "Versions",
          summary: "The contents of a file, the newest first",
          description:
            "Earlier contents are kept for as long as they are among the last 10 or were replaced within the last 30 " +
            "days (configurable), and count in the usage. For a file that is shared with you, the share must have " +
            "versions: true.",
          access: "reader",
          data: VersionsRecord,
          errors: ["not_found", "invalid_field", "share_permission"],
        }),
      },
    )
    .get(
      "/:id/versions/:version/download",
      ({ principal, params, request, set }) => send(principal, params, request, set),
      {
        access: "reader",
        params: VersionParams,
        ...documented({
          tag: "Versions",
          summary: "The content of one version",
          description: "Everything as when the file itself is downloaded; the present version has a number, too.",
          access: "reader",
          ...DOWNLOAD_DOCUMENTATION,
          errors: [...DOWNLOAD_DOCUMENTATION.errors, "share_permission"],
        }),
      },
    )
    .post(
      "/:id/versions/:version/restore",
      async ({ principal, params, request }) => {
        const version = readVersion(params.version);
        const file = await versions.restore(principal.user, params.id, version, preconditionOf(request));
        const context = { baseUrl: requestContextOf(request).baseUrl, hasThumbnail };
        return ok(presentUploaded(file, context), `Version ${version} is the content again.`);
      },
      {
        access: "writer",
        params: VersionParams,
        ...documented({
          tag: "Versions",
          summary: "Make an earlier version the content again",
          description:
            "As a new version: what was the content until now stays as an earlier one. The present version is left as it is.",
          access: "writer",
          headers: { "If-Match": "Only if the present content has this ETag" },
          data: ref("UploadedFile"),
          errors: ["not_found", "invalid_field", "share_permission", "precondition_failed", "quota_exceeded"],
        }),
      },
    )
    .delete(
      "/:id/versions/:version",
      async ({ principal, params, request }) => {
        const { dropped, owner } = await versions.delete(principal.user, params.id, readVersion(params.version));
        noteAudit(request, { subjectId: owner.publicId });
        return ok(
          { id: params.id, version: dropped.version, deletedAt: toTimestamp(clock.nowMs()) },
          "Version permanently deleted; its bytes count no more.",
        );
      },
      {
        access: "writer",
        params: VersionParams,
        ...documented({
          tag: "Versions",
          summary: "Delete an earlier version for good",
          description: "The current version cannot be deleted.",
          access: "writer",
          data: DeletedVersionRecord,
          errors: ["not_found", "invalid_field", "share_permission", "version_conflict"],
        }),
      },
    );
}

/** @throws AppError invalid_field */
function readVersion(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) {
    throw invalidField("version", "version must be a whole number from 1 on. GET …/versions lists them.");
  }
  return Number(text);
}
