/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { DurabilityListRecord, DurabilityRecord } from "./model.ts";

export const get = (): RouteDocs => ({
  tag: "Mobile",
  summary: "What a device may rely on before it frees its own copy of a file",
  description:
    "stored: the bytes lie on disk. verifiedAt: when they were last read again and found whole (verify reads them " +
    "now). snapshotAt: the newest copy of the database that has the file with this content.",
  query: {
    verify: { type: "boolean", description: "Read the content again first" },
    checksum: { type: "string", description: "The bytes that the device has; answered by matches" },
  },
  data: DurabilityRecord,
  errors: ["not_found", "invalid_field"],
});

export const check = (): RouteDocs => ({
  tag: "Mobile",
  summary: "The same for many files",
  description:
    "fileIds, then files, in the order given. With verify, contents are read while their sum is within 1 GiB (one " +
    "larger by itself is read, too); for the others verified is false, with a reason: ask again for these.",
  data: DurabilityListRecord,
});
