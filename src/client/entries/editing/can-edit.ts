import type { FileRecord } from "../../api/types.ts";
import { text } from "./text.ts";

const ENCODED = new Set(["image/jpeg", "image/png", "image/webp", "image/avif"]);

/** Why an image can't be rotated or cropped, for each unavailable action; undefined for files that are not images. */
export function editingLimits(file: Pick<FileRecord, "mimeType">): { rotate?: string; crop?: string } | undefined {
  const [type = ""] = file.mimeType.split(";");
  if (!type.startsWith("image/")) return undefined;
  if (type === "image/svg+xml") return { rotate: text.svg, crop: text.svg };
  if (ENCODED.has(type)) return {};
  if (type === "image/gif" || type === "image/apng") return { rotate: text.gif, crop: text.gif };
  if (/^image\/hei[cf]$/.test(type)) return { crop: text.heicCrop };
  if (type === "image/tiff") return { crop: text.tiffCrop };
  return { rotate: text.otherFormat, crop: text.otherFormat };
}
