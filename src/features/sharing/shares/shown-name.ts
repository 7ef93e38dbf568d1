import type { FileNode } from "../../../tree/model/types.ts";
import { emailKey } from "../../accounts/users/email.ts";
import { readSettings } from "../../accounts/users/settings.ts";
import type { User } from "../../accounts/users/types.ts";
import type { OpenedShare } from "./types.ts";

/** Neutral names for photos and videos, whose own names could reveal the date. Sidecar files are called `notes`. */
const NEUTRAL: Readonly<Record<string, string>> = { image: "photo", video: "film" };
const SHORT_EXTENSION = /\.([a-z0-9]{1,5})$/i;
/** Sidecar files of photo programs, such as `IMG_1234.xmp`. They contain the camera's metadata, with any media type. */
const SIDECAR = /\.xmp$/i;

/** Whether a file may reveal where and with which camera a photo or video was taken. */
export function hasCameraData({ name, mediaType }: Pick<FileNode, "name" | "mediaType">): boolean {
  return mediaType.startsWith("image/") || mediaType.startsWith("video/") || SIDECAR.test(name);
}

/**
 * The name of a file as a share shows it: its own, or a neutral one if location and camera data are hidden:
 * `photo.jpg`, or `photo-k3x9.jpg` in a folder, the same each time.
 */
export function shownName({ share, node }: OpenedShare, file: FileNode): string {
  if (!share.hidesLocation || !hasCameraData(file)) return file.name;
  const word = NEUTRAL[file.mediaType.slice(0, file.mediaType.indexOf("/"))] ?? "notes";
  const extension = SHORT_EXTENSION.exec(file.name)?.[0].toLowerCase() ?? "";
  if (node.kind === "file") return `${word}${extension}`;
  // A hash of its id and the share, which hides the time in the id.
  const hash = new Bun.CryptoHasher("sha256").update(`${share.publicId} ${file.publicId}`).digest("hex").slice(0, 6);
  return `${word}-${hash}${extension}`;
}

/**
 * The name of the owner as guests see it; undefined if the owner hides it. An email is never shown, even as a name.
 * @param settingsJson the stored settings of the owner
 */
export function sharerName({ name, email }: Pick<User, "name" | "email">, settingsJson: string): string | undefined {
  const isShown = readSettings(settingsJson).showNameToGuests && name !== "" && emailKey(name) !== emailKey(email);
  return isShown ? name : undefined;
}
