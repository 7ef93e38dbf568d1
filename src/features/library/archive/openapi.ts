/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";

const DESCRIPTION =
  `A ZIP whose entries are stored as they are, under the name of each file and folder asked for. The same
files give the same bytes: ETag, Range and If-Range hold, so that a download that broke off goes on. Names that would lead
elsewhere or fail when unpacked (separators, colons, control characters, names of devices, dots and spaces at the end) have
\`_\` in their place; of names that are the same then, and of the same names from several folders, all but one are numbered.
Archives of more than 4 MiB are sent without a Content-Length: HEAD tells it, and so does Content-Range. Where a file can't
be read the connection breaks. Downloads of the single files are not counted.`.replaceAll("\n", " ");

const ERRORS = [
  "not_found",
  "invalid_field",
  "invalid_request",
  "invalid_path",
  "precondition_failed",
  "range_not_satisfiable",
  "content_missing",
  "content_damaged",
] as const;

export const downloadFolder = (): RouteDocs => ({
  tag: "Folders",
  summary: "A folder as a ZIP",
  description: DESCRIPTION,
  query: { name: { type: "string", description: "Name of the archive; by default that of the folder" } },
  headers: { Range: "RFC 9110 §14, a single one" },
  content: { "application/zip": "The archive" },
  otherResponses: { 206: "The range asked for", 304: "The client has it already" },
  errors: ERRORS,
});

export const downloadSelection = (): RouteDocs => ({
  tag: "Files",
  summary: "Files and folders as a ZIP",
  description: `${DESCRIPTION} The same fields may come as a form (application/x-www-form-urlencoded, fileIds repeated), so that a page lets the browser do the saving.`,
  content: { "application/zip": "The archive" },
  errors: ERRORS,
});
