import { t } from "elysia";
import { ref } from "../../../http/documented.ts";
import { Timestamp } from "../../../http/fields.ts";

const ReceivedShareRecord = {
  type: "object",
  required: ["id", "permissions", "versions", "owner", "createdAt", "expiresAt", "label", "group"],
  properties: {
    id: t.String(),
    permissions: t.String({ enum: ["read", "write"] }),
    versions: t.Boolean({ description: "Whether earlier versions are included" }),
    owner: t.Object({ id: t.String(), name: t.String(), email: t.String() }),
    createdAt: Timestamp,
    expiresAt: { ...Timestamp, nullable: true },
    label: { type: "string", nullable: true },
    group: {
      ...t.Object({ id: t.String(), name: t.String() }),
      nullable: true,
      description: "The group that it is for; null if it is for this account itself",
    },
    file: { allOf: [ref("FileItem")], description: "The shared file, if it is a file" },
    folder: { allOf: [ref("FolderItem")], description: "The shared folder, if it is a folder" },
    album: { allOf: [ref("Album")], description: "The shared album, if it is an album" },
  },
};

/** GET /api/shares/received */
export const ReceivedSharesRecord = {
  type: "object",
  required: ["shares"],
  properties: { shares: { type: "array", items: ReceivedShareRecord } },
};

/** DELETE /api/shares/received/{id} */
export const LeftShareRecord = t.Object({ id: t.String() });
