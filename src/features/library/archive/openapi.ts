/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";

const DESCRIPTION = `A ZIP file whose entries are not compressed, with the name of each requested file and folder. The
same files always give the same bytes, so ETag, Range and If-Range work, and an interrupted download can be resumed.
In names, \`_\` replaces characters that are unsafe when unpacked. Equal names are numbered. A ZIP file of more than 4
MiB has no Content-Length: use HEAD or Content-Range to get its size. If a file cannot be read, the connection is
closed.`.replaceAll("\n", " ");

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
  summary: "Download a folder as a ZIP file",
  description: DESCRIPTION,
  query: { name: { type: "string", description: "Name of the ZIP file; by default the name of the folder" } },
  headers: { Range: "RFC 9110 §14, a single range" },
  content: { "application/zip": "The ZIP file" },
  otherResponses: { 206: "The requested range", 304: "The client has the current content" },
  errors: ERRORS,
});

export const downloadSelection = (): RouteDocs => ({
  tag: "Files",
  summary: "Download files and folders as a ZIP file",
  description:
    "Like GET /api/files/folders/{id}/archive. The fields can also be sent as a form " +
    "(application/x-www-form-urlencoded, with fileIds repeated), so that the browser saves the file.",
  content: { "application/zip": "The ZIP file" },
  errors: ERRORS,
});
