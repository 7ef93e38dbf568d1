/** Texts of these routes in the OpenAPI document. */
import { t } from "elysia";
import { ref, type RouteDocs } from "../../../http/documented.ts";
import { ArchiveEntryRecord, ExtractionRecord } from "./model.ts";

const PATH = "Path in the archive, without a slash at either end";
const READ_ERRORS = [
  "not_found",
  "invalid_field",
  "invalid_request",
  "content_missing",
  "content_damaged",
  "overloaded",
] as const;

export const listArchive = (): RouteDocs => ({
  tag: "Files",
  summary: "List a folder of a ZIP archive",
  description:
    "Reads only the directory of the archive. Folders come first. Names are shown as they are in the archive.",
  query: {
    path: { type: "string", default: "", description: PATH },
    page: { type: "integer", minimum: 1, default: 1 },
    limit: { type: "integer", minimum: 1, maximum: 1000, default: 1000 },
  },
  data: {
    type: "object",
    required: ["path", "entries", "pagination"],
    properties: { path: t.String(), entries: t.Array(ArchiveEntryRecord), pagination: ref("Pagination") },
  },
  errors: READ_ERRORS,
});

export const openEntry = (): RouteDocs => ({
  tag: "Files",
  summary: "Download a file of a ZIP archive",
  description:
    "Only this file is read. The connection is closed if it does not match the size and the checksum in the archive. " +
    "Ranges are not supported.",
  query: {
    path: { type: "string", description: PATH },
    inline: { type: "boolean", description: "Show in the browser: photos, audio, videos, PDF and plain text only" },
  },
  content: { "application/octet-stream": "The content" },
  otherResponses: { 304: "The client has the current content" },
  errors: [...READ_ERRORS, "precondition_failed"],
});

export const extract = (): RouteDocs => ({
  tag: "Files",
  summary: "Extract a ZIP archive into a new folder",
  description:
    "Continues when the client disconnects. The folder appears when everything in it is stored, or not at all. " +
    "Rejected before anything is written: absolute paths, `..`, drive letters, backslashes, links, encryption, content " +
    "compressed more than 200 times, equal names, and entries that overlap (`invalid_request` with " +
    "`details.problem` and `details.entry`). Without folderPath, the folder is created next to the archive.",
  status: 202,
  data: ExtractionRecord,
  errors: ["not_found", "share_permission", "invalid_field", "invalid_path", "overloaded"],
});

export const listExtractions = (): RouteDocs => ({
  tag: "Files",
  summary: "List your extractions of the last hour",
  data: t.Object({ extractions: t.Array(ExtractionRecord) }),
});

export const getExtraction = (): RouteDocs => ({
  tag: "Files",
  summary: "The progress and the result of an extraction",
  description: "After a restart of the server, extractions that had not ended are gone, with nothing left of them.",
  data: ExtractionRecord,
  errors: ["not_found", "invalid_field"],
});

export const cancelExtraction = (): RouteDocs => ({
  tag: "Files",
  summary: "Cancel an extraction",
  data: ExtractionRecord,
  errors: ["not_found", "invalid_field"],
});
