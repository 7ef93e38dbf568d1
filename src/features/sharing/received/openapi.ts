/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { LeftShareRecord, ReceivedSharesRecord } from "./model.ts";

export const list = (): RouteDocs => ({
  tag: "Shares",
  summary: "What others share with you",
  description:
    "Newest first, at most 1,000. The ids in it work at the file and folder endpoints, as far as permissions says; " +
    "GET /api/files?share={id} lists a shared folder. Expired shares, and those of disabled accounts, are not in it.",
  data: ReceivedSharesRecord,
});

export const leave = (): RouteDocs => ({
  tag: "Shares",
  summary: "Leave a share that was made for you",
  description: "Nothing of what was shared changes. The owner is told as when they end it themselves.",
  data: LeftShareRecord,
  errors: ["not_found", "invalid_field"],
});
