/** The preview picture inside an office document or a book. */
import { posix } from "node:path";
import { readXml } from "./xml.ts";
import { withZip, type Zip } from "./zip.ts";

const PICTURE_BYTES_MAX = 16 * 1024 * 1024;

/** Microsoft Office, LibreOffice, and Apple's programs, in this order. EMF, which Office writes too, is not read. */
const NAMES = [
  "docProps/thumbnail.jpeg",
  "docProps/thumbnail.jpg",
  "docProps/thumbnail.png",
  "Thumbnails/thumbnail.png",
  "QuickLook/Thumbnail.jpg",
  "preview.jpg",
];

/** The embedded picture: JPEG or PNG; undefined if there is none. @throws ContentFault if the file is damaged */
export async function findEmbeddedPicture(path: string): Promise<Buffer | undefined> {
  return withZip(path, async (zip) => {
    const name = NAMES.find((each) => zip.has(each)) ?? (await findCover(zip));
    const bytes = name === undefined ? undefined : await zip.read(name, PICTURE_BYTES_MAX);
    return bytes !== undefined && isJpegOrPng(bytes) ? bytes : undefined;
  });
}

function isJpegOrPng(bytes: Buffer): boolean {
  return bytes.readUIntBE(0, Math.min(3, bytes.length)) === 0xffd8ff || bytes.toString("latin1", 1, 4) === "PNG";
}

/** The cover of a book (EPUB 3.3 §5.5 `cover-image`, or EPUB 2's `meta` with the name `cover`). */
async function findCover(zip: Zip): Promise<string | undefined> {
  const packagePath = await findPackage(zip);
  if (packagePath === undefined) return undefined;
  let coverId: string | undefined;
  let cover: string | undefined;
  const items = new Map<string, string>();
  await readXml(zip.stream(packagePath), {
    onOpen: (element, attributes) => {
      if (element === "meta" && attributes["name"] === "cover") coverId = attributes["content"];
      if (element !== "item") return;
      const href = attributes["href"] ?? "";
      items.set(attributes["id"] ?? "", href);
      if (attributes["properties"]?.split(" ").includes("cover-image") === true) cover = href;
    },
  });
  const href = cover ?? items.get(coverId ?? "");
  return href === undefined ? undefined : resolveEntry(packagePath, href);
}

/** The package document of a book, which lists its files. */
export async function findPackage(zip: Zip): Promise<string | undefined> {
  let path: string | undefined;
  await readXml(zip.stream("META-INF/container.xml"), {
    onOpen: (element, attributes) => {
      if (element === "rootfile") path ??= attributes["full-path"];
    },
  });
  return path;
}

/** The entry that `href` in the entry `from` names. */
export function resolveEntry(from: string, href: string): string {
  const [path = ""] = href.split("#");
  try {
    return posix.join(posix.dirname(from), decodeURIComponent(path));
  } catch {
    // Not an encoded address: taken as it is.
    return posix.join(posix.dirname(from), path);
  }
}
