/** Texts of this route in the OpenAPI document. */
import { t } from "elysia";
import { Timestamp } from "../../../http/fields.ts";
import type { RouteDocs } from "../../../http/documented.ts";

export const editing = (): RouteDocs => ({
  tag: "Files",
  summary: "Whether a file can be edited",
  description:
    "For editors, before a person begins to type: whether the caller may change the content, and the WebDAV lock that " +
    "prevents it. `person` is only set if the caller may know who locked the file, `program` only if it was a program of the caller.",
  data: t.Object({
    canWrite: t.Boolean(),
    lock: t.Union([
      t.Object({
        program: t.Union([t.String(), t.Null()]),
        person: t.Union([t.String(), t.Null()]),
        expiresAt: Timestamp,
      }),
      t.Null(),
    ]),
  }),
  errors: ["not_found", "invalid_field"],
});
