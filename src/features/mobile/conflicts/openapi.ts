/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { ConflictsRecord, DecidedRecord, ResolvedRecord } from "./model.ts";

export const list = (): RouteDocs => ({
  tag: "Users",
  summary: "List the conflicts of your devices",
  description:
    "Files that a device and someone else changed at the same time, and that are not resolved yet. Oldest first, " +
    "at most 1,000.",
  data: ConflictsRecord,
});

export const decide = (): RouteDocs => ({
  tag: "Users",
  summary: "Resolve a conflict for a device",
  description:
    "Like POST /api/mobile/conflicts/resolve. With `keep_local` and the status `upload_required`, the device " +
    "sends its content when it is online again.",
  data: DecidedRecord,
  errors: [
    "not_found",
    "version_conflict",
    "name_taken",
    "quota_exceeded",
    "path_too_long",
    "not_a_folder",
    "confirmation_required",
  ],
});

export const resolve = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Resolve conflicts",
  description:
    "Each conflict is processed separately. `keep_remote` drops the change of the device. `keep_local` applies " +
    "it: the server's content becomes an earlier version, and a deleted file is created again. If the name is " +
    "taken, the local file becomes the next version of that file, or is stored next to it under the name in " +
    "`localData`. If the content is not on the server, the status is `upload_required`, and the conflict " +
    "ends when the content arrives.",
  data: ResolvedRecord,
});
