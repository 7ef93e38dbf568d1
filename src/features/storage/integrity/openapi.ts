/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { FindingPageRecord, LIMIT_DEFAULT, LIMIT_MAX, STATES } from "./model.ts";

export const listFindings = (): RouteDocs => ({
  tag: "Administration",
  summary: "List damaged or missing files and database faults, newest first",
  description:
    "Found by the nightly scrub (`scrub.*`), by `larder verify`, by the check of a file, or during a download. A " +
    "finding is resolved when an intact copy arrives, by an upload of the same bytes or by `larder heal`. " +
    "Resolved findings are retained for one year.",
  data: FindingPageRecord,
  errors: ["invalid_field"],
  query: {
    state: { type: "string", enum: [...STATES], default: "open" },
    page: { type: "integer", minimum: 1, default: 1 },
    limit: { type: "integer", minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT },
  },
});
