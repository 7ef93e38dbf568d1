/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { SyncFilesRecord } from "./model.ts";

export const reportChanges = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Bring what changed on the device",
  description:
    "Each change by itself, in order; sent again, it changes nothing and gets the same answer. `upload_required`: " +
    "send the content by upload/init, with `fileId` where one is given. `baseChecksum` is the content that the " +
    "device's own came from: where the server has another, or, without it, where others changed the file since " +
    "`syncToken`, it is a conflict. A deletion and an upload of the same bytes in one call are a move. Deletions " +
    "and replacements far beyond what is usual are `rejected` with the reason `confirmation_required` until a " +
    "person has confirmed the hold that `details.holdId` names.",
  data: SyncFilesRecord,
});
