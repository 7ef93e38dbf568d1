import { t } from "elysia";

/** POST /api/files/archive */
export const ArchiveBody = t.Object({
  fileIds: t.Array(t.String(), { minItems: 1, maxItems: 1000, description: "Files and folders" }),
  name: t.Optional(t.String({ description: "Name of the ZIP file; .zip is added if it is missing" })),
});
