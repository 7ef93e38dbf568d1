/** Reads Upload-Metadata. */
import { invalidField } from "../../../errors.ts";
import { joinPath, normalizePath, ROOT_PATH, uploadedName } from "../../../lib/path.ts";
import { say } from "../../../translations/say.ts";
import { readUploadFields, type UploadFields } from "../../library/files/upload-form.ts";

/** The file that an upload is to become. */
export interface TusMetadata {
  readonly name: string;
  /** As announced by the client. */
  readonly mediaType: string | undefined;
  readonly fields: UploadFields;
  /** The received share to upload into. */
  readonly share: string | undefined;
  /** The name that the sender of a drop box entered. */
  readonly sender: string | undefined;
}

const FIELD = "Upload-Metadata";
const KEYS_MAX = 64;
const MEDIA_TYPE_CHARACTERS_MAX = 255;

/** Pairs of a key and a base64 text, as in the header. @throws AppError invalid_field */
export function readPairs(header: string): Map<string, string> {
  const pairs = new Map<string, string>();
  if (header.trim() === "") return pairs;
  for (const pair of header.split(",")) {
    const [key = "", base64 = "", ...rest] = pair.trim().split(" ");
    if (!/^[\x21-\x2b\x2d-\x7e]+$/.test(key) || rest.length > 0) {
      throw invalidField(
        FIELD,
        say`${FIELD} must be comma-separated pairs of a key, a space, and the value in base64.`,
      );
    }
    if (pairs.has(key)) throw invalidField(FIELD, say`${FIELD} contains the key ${key} twice. Send each key once.`);
    pairs.set(key, decode(key, base64));
  }
  if (pairs.size > KEYS_MAX) throw invalidField(FIELD, say`${FIELD} has more than ${KEYS_MAX} keys. Send fewer keys.`);
  return pairs;
}

/**
 * Reads the header: `filename` (or `name`), `filetype` (or `type`), `folder`, `relativePath` below it with the name at
 * its end, `onConflict`, `checksum`, `tags`, `metadata`, `description`, `lastModified` (ISO 8601, or milliseconds since
 * 1970), `capturedAt`, `share`, `sender`. Other keys are ignored.
 * @throws AppError invalid_field | invalid_path
 */
export function readMetadata(header: string): TusMetadata {
  const pairs = readPairs(header);
  const text = (...keys: readonly string[]) =>
    keys.map((key) => pairs.get(key)).find((value) => value !== undefined && value !== "");
  // The value that uploaders send for a file without a relative path.
  const given = text("relativePath");
  const relativePath = given === "null" ? undefined : given;
  const segments = relativePath?.split("/").filter((segment) => segment !== "") ?? [];
  const name = uploadedName(text("filename", "name") ?? segments.at(-1) ?? "file");
  const folder = normalizePath(text("folder") ?? ROOT_PATH);
  const folderPath = segments.length > 1 ? normalizePath(joinPath(folder, segments.slice(0, -1).join("/"))) : folder;
  const form = new Map<string, string[]>();
  for (const key of ["checksum", "onConflict", "tags", "metadata", "description", "capturedAt"]) {
    const value = text(key);
    if (value !== undefined) form.set(key, [value]);
  }
  const lastModified = text("lastModified", "fileModifiedAt");
  if (lastModified !== undefined) form.set("fileModifiedAt", [toInstant(lastModified)]);
  return {
    name,
    mediaType: text("filetype", "type")?.slice(0, MEDIA_TYPE_CHARACTERS_MAX),
    fields: { ...readUploadFields(form), folderPath },
    share: text("share"),
    sender: text("sender"),
  };
}

/** Browsers give the time of a file in milliseconds. */
function toInstant(text: string): string {
  if (!/^-?\d{1,16}$/.test(text)) return text;
  const date = new Date(Number(text));
  if (Number.isNaN(date.getTime())) throw invalidField("lastModified", say`lastModified is not a valid time.`);
  return date.toISOString();
}

function decode(key: string, base64: string): string {
  const bytes = Buffer.from(base64, "base64");
  if (
    !/^[A-Za-z0-9+/]*={0,2}$/.test(base64) ||
    bytes.toString("base64").replace(/=+$/, "") !== base64.replace(/=+$/, "")
  ) {
    throw invalidField(FIELD, say`The value of ${key} in ${FIELD} is not valid base64.`);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) throw invalidField(FIELD, say`The value of ${key} in ${FIELD} is not valid UTF-8.`);
    throw error;
  }
}
