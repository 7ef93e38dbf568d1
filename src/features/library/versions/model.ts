import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { Checksum, Timestamp } from "../../../http/fields.ts";

const VersionNumber = Type.Integer({ minimum: 1 });

/** Path of one version of a file. */
export const VersionParams = t.Object({
  id: t.String({ description: "Opaque id of the file" }),
  version: t.String({ description: "Number of the version, from 1 on" }),
});

/** GET /api/files/{id}/versions */
export const VersionsRecord = t.Object({
  versions: t.Array(
    t.Object({
      version: VersionNumber,
      size: Type.Integer({ minimum: 0, description: "Bytes" }),
      checksum: Checksum,
      mimeType: t.String(),
      createdAt: Timestamp,
      createdBy: t.Union([t.Object({ id: t.String(), name: t.String() }), t.Null()], {
        description: "Who stored it; null if that account was deleted",
      }),
      isCurrent: t.Boolean(),
      downloadUrl: t.String({ format: "uri" }),
    }),
    { description: "Newest first, starting with the current version" },
  ),
});

/** DELETE /api/files/{id}/versions/{n} */
export const DeletedVersionRecord = t.Object({ id: t.String(), version: VersionNumber, deletedAt: Timestamp });
