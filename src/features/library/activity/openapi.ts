/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { NodeActivityPageRecord } from "./model.ts";

export const activity = (): RouteDocs => ({
  tag: "Files",
  summary: "List what happened to a file or folder, newest first",
  description:
    "As far back as versions and former locations are retained (30 days, configurable). Users with whom it is " +
    "shared see only who created it and who changed its content.",
  query: {
    page: { type: "integer", minimum: 1, default: 1 },
    limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
  },
  data: NodeActivityPageRecord,
  errors: ["not_found", "invalid_field"],
});
