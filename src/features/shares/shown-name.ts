import type { FileNode } from "../tree/types.ts";
import type { OpenedShare } from "./types.ts";

/** What pictures and films are called where their own names could tell the date (D67). */
const NEUTRAL: Readonly<Record<string, string>> = { image: "photo", video: "film" };
const SHORT_EXTENSION = /\.([a-z0-9]{1,5})$/i;

/**
 * The name of a file as a share shows it: its own, or a neutral one where location and camera data are hidden, such as
 * `photo.jpg`, and `photo-k3x9.jpg` in a folder, the same each time.
 */
export function shownName({ share, node }: OpenedShare, file: FileNode): string {
  const word = NEUTRAL[file.mediaType.slice(0, file.mediaType.indexOf("/"))];
  if (!share.hidesLocation || word === undefined) return file.name;
  const extension = SHORT_EXTENSION.exec(file.name)?.[0].toLowerCase() ?? "";
  if (node.kind === "file") return `${word}${extension}`;
  // Of its id and the share: nothing of the time that is in the id can be read from it.
  const mark = new Bun.CryptoHasher("sha256").update(`${share.publicId} ${file.publicId}`).digest("hex").slice(0, 6);
  return `${word}-${mark}${extension}`;
}
