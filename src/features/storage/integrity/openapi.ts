/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { FindingPageRecord, LIMIT_DEFAULT, LIMIT_MAX, STATES } from "./model.ts";

export const listFindings = (): RouteDocs => ({
  tag: "Administration",
  summary: "Stored contents that were found damaged or missing, and faults of the database; newest first",
  description:
    "By the nightly reading (`scrub.*`), by `larder verify`, by a check of a file, or when a file was to be sent. A " +
    "finding is resolved when a good copy has come: by an upload of the same bytes, or by `larder heal`. Resolved " +
    "ones are kept for a year.",
  data: FindingPageRecord,
  errors: ["invalid_field"],
  query: {
    state: { type: "string", enum: [...STATES], default: "open" },
    page: { type: "integer", minimum: 1, default: 1 },
    limit: { type: "integer", minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT },
  },
});
