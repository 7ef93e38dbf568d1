/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { SyncFilesRecord } from "./model.ts";

export const reportChanges = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Report changes made on the device",
  description:
    "Each change is processed separately and in order. A repeated change has no effect and gets the same " +
    "response. `upload_required`: send the content through upload/init, with `fileId` if one is given. " +
    "`baseChecksum` is the content on which the device's content is based. If the server has other content, it is " +
    "a conflict; without `baseChecksum`, if others changed the file since `syncToken`. A deletion and an upload " +
    "of the same bytes in one request are a move. Unusually many deletions or replacements are `rejected` with " +
    "the reason `confirmation_required`, until a person accepts the hold in `details.holdId`.",
  data: SyncFilesRecord,
});
