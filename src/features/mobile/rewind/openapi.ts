/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { RewindRecord } from "./model.ts";

const DOCUMENTATION = {
  summary: "Undo what one device did since a time",
  description:
    "Replaced contents come back as new versions, renames and moves are put back, deleted files are made again (with a " +
    "new id), and what the device made is deleted, unless somebody else changed the same thing since: that is left and " +
    "told. A taken name is numbered. Nothing is destroyed: what goes can be brought back from the versions, or from " +
    "the store within its grace period, after which deleted contents are gone. The device may be removed already. At " +
    "most 1,000 files and folders a call; what was undone is not undone twice.",
  data: RewindRecord,
  errors: ["not_found", "invalid_field"],
} as const;

export const rewindOnDevice = (): RouteDocs => ({ ...DOCUMENTATION, tag: "Mobile" });

export const rewind = (): RouteDocs => ({ ...DOCUMENTATION, tag: "Users" });
