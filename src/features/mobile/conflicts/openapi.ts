/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { ConflictsRecord, DecidedRecord, ResolvedRecord } from "./model.ts";

export const list = (): RouteDocs => ({
  tag: "Users",
  summary: "What your devices and others changed at the same time",
  description: "The conflicts that devices still have to resolve, oldest first, at most 1,000.",
  data: ConflictsRecord,
});

export const decide = (): RouteDocs => ({
  tag: "Users",
  summary: "Decide a conflict in the place of a device",
  description:
    "As POST /api/mobile/conflicts/resolve. With `keep_local` and the status `upload_required` the device sends its " +
    "content when it is back.",
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
    "Each by itself. `keep_remote` drops the device's change. `keep_local` carries it out: the server's content " +
    "becomes an earlier version, a deleted file is made again; where a name is taken, the local file becomes the " +
    "next version of what is there, or stays beside it under the name in `localData`. Where the content is not on " +
    "the server the status is `upload_required`, and the conflict ends when the content has arrived.",
  data: ResolvedRecord,
});
