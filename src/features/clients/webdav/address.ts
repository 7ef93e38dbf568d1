/**
 * The addresses of the WebDAV tree. Three roots lead to the same tree: `/dav/`, and the two that the clients of
 * Nextcloud and ownCloud use.
 */
import { AppError } from "../../../errors.ts";
import { normalizeName } from "../../../lib/path.ts";
import { say } from "../../../translations/say.ts";

/** An address, decoded. */
export interface Address {
  /** The root as the client wrote it, with a slash at the end, and without the base path of the server. */
  readonly root: string;
  /** The user in the address; undefined if it contains none. */
  readonly user: string | undefined;
  /** The names from the root to the item, in NFC, as they are stored. */
  readonly names: readonly string[];
  /** The same names in the Unicode form in which the client wrote them. Sync clients require it in the hrefs of responses. */
  readonly writtenNames: readonly string[];
  /** Whether the client wrote a name in another Unicode form. */
  readonly isOtherForm: boolean;
}

const ROOTS = [
  /^(\/dav)(?:\/|$)/,
  /^(\/remote\.php\/webdav)(?:\/|$)/,
  /^(\/remote\.php\/dav\/files\/([^/]+))(?:\/|$)/,
] as const;

/**
 * Reads the path of a request or of a Destination header; undefined if it is in none of the trees.
 * @param path percent-encoded, without the base path of the server
 * @throws AppError invalid_path for names that no file can have, for encoded slashes and for dot segments
 */
export function readAddress(path: string): Address | undefined {
  for (const pattern of ROOTS) {
    const match = pattern.exec(path);
    if (match === null) continue;
    const [, base = "", user] = match;
    const writtenNames = path
      .slice(base.length)
      .split("/")
      .filter((part) => part !== "")
      .map(decodeSegment);
    const names = writtenNames.map((name) => normalizeName(name, "path"));
    return {
      root: `${base}/`,
      user: user === undefined ? undefined : decodeSegment(user),
      names,
      writtenNames,
      isOtherForm: names.some((name, index) => name !== writtenNames[index]),
    };
  }
  return undefined;
}

/** The percent-encoded path of an item below a root, without a slash at the end; the root itself keeps its slash. */
export function pathOfNames(root: string, names: readonly string[]): string {
  return root + names.map(encodeURIComponent).join("/");
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    throw new AppError("invalid_path", say`The address contains a % that is not valid percent-encoding.`, {}, error);
  }
}
