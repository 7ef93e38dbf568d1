import { ref, type RouteDocs } from "../../../http/documented.ts";

export const edit = (): RouteDocs => ({
  tag: "Files",
  summary: "Rotate or crop an image",
  description:
    "Stores the edited image as a new version, with its metadata. The file keeps its date. A rotation of a JPEG, TIFF, " +
    "HEIC, or AVIF changes only the orientation that is stored in it, without loss. A crop encodes JPEG, PNG, WebP, and " +
    "AVIF again. Animations and other formats can't be edited (415).",
  headers: { "If-Match": "Only if the current content has this ETag" },
  data: ref("UploadedFile"),
  errors: [
    "locked",
    "not_found",
    "invalid_field",
    "share_permission",
    "precondition_failed",
    "unsupported_media_type",
    "file_too_large",
    "quota_exceeded",
    "storage_error",
    "store_missing",
    "disk_full",
    "overloaded",
  ],
});
