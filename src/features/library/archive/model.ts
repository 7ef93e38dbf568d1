import { t } from "elysia";
import { FileIds } from "../files/model.ts";

/** POST /api/files/archive */
export const ArchiveBody = t.Object({
  fileIds: FileIds,
  name: t.Optional(t.String({ description: "Name of the ZIP file; .zip is added if it is missing" })),
});
