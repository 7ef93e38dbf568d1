import { fileDate, FILE, FOLDER, metadataToJson, tagsToJson } from "../../../tree/model/rows.ts";
import type { FileRecord, FolderRecord } from "./records.ts";

/** The columns of a row in `nodes` that follow from the node's record alone. */
export interface NodeRow {
  readonly publicId: string;
  readonly kind: number;
  readonly createdAt: number;
  readonly modifiedAt: number;
  readonly metadata: string | null;
  readonly sizeBytes: number;
  readonly mediaType: string | null;
  readonly version: number | null;
  readonly contentAt: number | null;
  readonly originalName: string | null;
  readonly fileModifiedAt: string | null;
  readonly capturedAt: string | null;
  readonly fileAt: number;
  readonly isPublic: number;
  readonly tags: string | null;
}

/** Columns that only files use, as folders have them. */
const WITHOUT_CONTENT = {
  sizeBytes: 0,
  mediaType: null,
  version: null,
  contentAt: null,
  originalName: null,
  fileModifiedAt: null,
  capturedAt: null,
  isPublic: 0,
  tags: null,
};

/** The row of a file or folder. */
export function toRow(record: FileRecord | FolderRecord): NodeRow {
  const common = {
    createdAt: record.created,
    modifiedAt: record.modified,
    fileAt: record.created,
    metadata: metadataToJson(record.metadata ?? {}),
  };
  if (!("file" in record)) return { ...WITHOUT_CONTENT, ...common, publicId: record.folder, kind: FOLDER };
  const { content, originalName = null, fileModifiedAt = null, capturedAt = null, tags = [], shares = [] } = record;
  // A file is public only together with its public link.
  const isPublic = record.isPublic === true && shares.some(({ kind }) => kind === "public");
  return {
    ...common,
    publicId: record.file,
    kind: FILE,
    sizeBytes: content.size,
    mediaType: content.type,
    version: content.version,
    contentAt: content.at,
    originalName,
    fileModifiedAt,
    capturedAt,
    fileAt: fileDate(fileModifiedAt, content.at),
    isPublic: isPublic ? 1 : 0,
    tags: tagsToJson(tags),
  };
}
