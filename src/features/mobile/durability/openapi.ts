/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { DurabilityListRecord, DurabilityRecord } from "./model.ts";

export const get = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Check whether a device can delete its own copy of a file",
  description:
    "`stored`: the bytes are on the server's disk. `verifiedAt`: when they were last read and found intact (`verify` " +
    "reads them now). `snapshotAt`: the newest snapshot of the database that contains the file with this content.",
  query: {
    verify: { type: "boolean", description: "Read the file first and compare it with its digest" },
    checksum: { type: "string", description: "Checksum of the bytes that the device has; the response has matches" },
  },
  data: DurabilityRecord,
  errors: ["not_found", "invalid_field"],
});

export const check = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Check whether a device can delete its own copies of many files",
  description:
    "First fileIds, then files, in the given order. With `verify`, files are read up to a total of 1 GiB. For the " +
    "others, `verified` is false and has a reason: send another request for these.",
  data: DurabilityListRecord,
});
