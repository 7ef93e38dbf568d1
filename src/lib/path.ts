/**
 * Folder paths and names, normalized once at the edge. A normalized path is absolute, `/`-separated, NFC, without a
 * trailing slash (except for the root) and safe to compare with `===`.
 * No such text ever becomes part of a path on disk: blobs are named by their digest.
 */
import { AppError } from "../errors.ts";
import { type Message, say } from "../translations/say.ts";

/** The root folder of every account. */
export const ROOT_PATH = "/";
const MAX_SEGMENT_BYTES = 255;
const MAX_PATH_BYTES = 4096;
// Control characters (C0, DEL, C1), both kinds of path separators, and lone surrogates, which have no UTF-8 form.
// oxlint-disable-next-line no-control-regex -- control characters are exactly what is looked for
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f/\\]|\p{Surrogate}/u;

/**
 * Normalizes the name of a file or folder to the form in which it is stored and compared.
 * @throws AppError invalid_path
 */
export function normalizeName(input: string, field = "name"): string {
  const name = input.normalize("NFC");
  if (name === "") throw invalidPath(field, say`The name is empty. Enter a name.`);
  if (name === "." || name === "..")
    throw invalidPath(field, say`"${name}" is not allowed as a name. Choose another name.`);
  if (FORBIDDEN.test(name)) {
    throw invalidPath(
      field,
      say`The name contains a slash, a backslash or a control character. Remove these characters.`,
    );
  }
  if (Buffer.byteLength(name) > MAX_SEGMENT_BYTES) {
    throw invalidPath(field, say`The name is longer than ${MAX_SEGMENT_BYTES} bytes in UTF-8. Choose a shorter name.`);
  }
  return name;
}

/**
 * Normalizes a folder path; `"/a/b/"` becomes `"/a/b"`.
 * @throws AppError invalid_path
 */
export function normalizePath(input: string, field = "folder"): string {
  if (input === ROOT_PATH) return ROOT_PATH;
  if (!input.startsWith("/")) throw invalidPath(field, say`A folder path must start with "/", such as "/photos/2026".`);
  const trimmed = input.endsWith("/") ? input.slice(0, -1) : input;
  const segments = trimmed
    .slice(1)
    .split("/")
    .map((segment) => {
      if (segment === "") throw invalidPath(field, say`The path contains a double slash. Remove one of the slashes.`);
      return normalizeName(segment, field);
    });
  const path = `/${segments.join("/")}`;
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw invalidPath(field, say`The path is longer than ${MAX_PATH_BYTES} bytes in UTF-8. Choose a shorter path.`);
  }
  return path;
}

/** The names of the folders from the root to `path`, outermost first; none for the root. */
export function segmentsOf(path: string): string[] {
  return path === ROOT_PATH ? [] : path.slice(1).split("/");
}

/** The path of `name` inside the folder `parent`. */
export function joinPath(parent: string, name: string): string {
  return parent === ROOT_PATH ? `/${name}` : `${parent}/${name}`;
}

/** The last name of a path; `"/"` for the root. */
export function baseName(path: string): string {
  return path === ROOT_PATH ? ROOT_PATH : path.slice(path.lastIndexOf("/") + 1);
}

/** The parent folder of `path`; the root is its own parent. */
export function parentPath(path: string): string {
  const cut = path.lastIndexOf("/");
  return cut <= 0 ? ROOT_PATH : path.slice(0, cut);
}

/**
 * Normalizes the name of an uploaded file. Some browsers and scripts send whole paths; only the last part is used.
 * @throws AppError invalid_path
 */
export function uploadedName(fileName: string): string {
  return normalizeName(fileName.slice(Math.max(fileName.lastIndexOf("/"), fileName.lastIndexOf("\\")) + 1), "file");
}

/**
 * Case-folds a name for sorting and searching (not for comparing: names are case-sensitive). ASCII takes a fast path.
 * Other text is converted to upper and then to lower case, so that "ß" equals "SS" and a final sigma equals an ordinary
 * one. The result is stored with each name: a change of this function needs a migration.
 */
export function fold(text: string): string {
  // oxlint-disable-next-line no-control-regex -- the whole of ASCII is meant
  if (/^[\u0000-\u007f]*$/.test(text)) return text.toLowerCase();
  return text.toUpperCase().toLowerCase().replaceAll("ς", "σ").normalize("NFC");
}

function invalidPath(field: string, text: Message): AppError {
  return new AppError("invalid_path", text, { field });
}
