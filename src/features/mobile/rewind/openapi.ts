/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { RewindRecord } from "./model.ts";

const DOCUMENTATION = {
  summary: "Undo the changes of one device since a time",
  description:
    "Replaced content is restored as a new version. Renames and moves are reversed. Deleted files are created again " +
    "with a new id. What the device created is deleted. Items that someone else changed since then are left alone " +
    "and reported. Removed content can be restored from the versions, or from the store within its grace period. The " +
    "device may have been removed. At most 1,000 files and folders per request; what was undone is not undone twice.",
  data: RewindRecord,
  errors: ["not_found", "invalid_field"],
} as const;

export const rewindOnDevice = (): RouteDocs => ({ ...DOCUMENTATION, tag: "Mobile" });

export const rewind = (): RouteDocs => ({
  ...DOCUMENTATION,
  description: "Like POST /api/mobile/devices/{deviceId}/rewind, from a browser.",
  tag: "Users",
});
