/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { RECEIVED_SORTS } from "./sort.ts";
import { LeftShareRecord, ReceivedSharesRecord } from "./model.ts";

export const list = (): RouteDocs => ({
  tag: "Shares",
  summary: "List what others share with you",
  description:
    "By default newest first; at most 1,000. The ids work with the file and folder endpoints, as far as `permissions` allows. " +
    "GET /api/files?share={id} lists a shared folder.",
  query: {
    sort: {
      type: "string",
      enum: [...RECEIVED_SORTS],
      default: "createdAt",
      description:
        "natural: by the name of the file or folder, folders first; owner: by the owner's name, then the same",
    },
    order: { type: "string", enum: ["asc", "desc"], description: "By default desc for createdAt, else asc" },
  },
  data: ReceivedSharesRecord,
  errors: ["invalid_field"],
});

export const leave = (): RouteDocs => ({
  tag: "Shares",
  summary: "Leave a share",
  description: "The shared files stay unchanged. The owner is notified as if they had ended it.",
  data: LeftShareRecord,
  errors: ["not_found", "invalid_field"],
});
