/** Reads and checks the text fields of an upload form. */
import { type Digest, parseChecksum } from "../../../blobs/digest.ts";
import { invalidField } from "../../../errors.ts";
import { readBoolean, readChoice, readInstant } from "../../../http/fields.ts";
import { normalizePath } from "../../../lib/path.ts";
import { checkMetadata, checkTags } from "../../../tree/model/labels.ts";
import type { OnConflict } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";

/** The fields of an upload, in addition to its bytes. */
export interface UploadFields {
  readonly folderPath: string;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly isPublic: boolean;
  readonly checksum: Digest | undefined;
  readonly onConflict: OnConflict;
  /** The file's own modification time, and when a photo was taken, as sent by the client. */
  readonly fileModifiedAt: string | undefined;
  readonly capturedAt: string | undefined;
}

/** What to do if the name is taken. */
export const ON_CONFLICT = ["rename", "version", "error"] as const;

/**
 * @param fields each field with its values, in order; the last value counts, except for `tags`
 * @throws AppError invalid_field | invalid_path
 */
export function readUploadFields(fields: ReadonlyMap<string, readonly string[]>): UploadFields {
  const last = (name: string) => fields.get(name)?.at(-1);
  const checksum = last("checksum");
  const description = last("description");
  const hasDescription = description !== undefined && description !== "";
  const metadata = { ...readMetadata(last("metadata")), ...(hasDescription && { description }) };
  checkMetadata(metadata);
  return {
    folderPath: normalizePath(last("folder") || "/"),
    tags: checkTags((fields.get("tags") ?? []).flatMap((text) => text.split(","))),
    metadata,
    isPublic: readBoolean(last("isPublic"), "isPublic") ?? false,
    checksum: checksum === undefined || checksum === "" ? undefined : parseChecksum(checksum),
    onConflict: readChoice(last("onConflict") || undefined, "onConflict", ON_CONFLICT) ?? "rename",
    fileModifiedAt: readInstant(last("fileModifiedAt"), "fileModifiedAt"),
    capturedAt: readInstant(last("capturedAt"), "capturedAt"),
  };
}

function readMetadata(text: string | undefined): Record<string, string> {
  if (text === undefined || text === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalidField(
      "metadata",
      say`metadata is not valid JSON: ${error instanceof Error ? error.message : "unreadable"}.`,
    );
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidField("metadata", say`metadata must be a JSON object with string values.`);
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => {
      if (typeof entry !== "string") throw invalidField("metadata", say`metadata.${key} must be a string.`);
      return [key, entry];
    }),
  );
}
