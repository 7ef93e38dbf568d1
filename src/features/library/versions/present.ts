import { toChecksum } from "../../../blobs/digest.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import type { StoredVersion } from "./service.ts";

/** An entry of the version list. */
export function presentVersion(fileId: string, version: StoredVersion, baseUrl: string) {
  const { author } = version;
  return {
    version: version.version,
    size: version.sizeBytes,
    checksum: toChecksum(version.digest),
    mimeType: version.mediaType,
    createdAt: toTimestamp(version.createdAtMs),
    createdBy: author === undefined ? null : { id: author.publicId, name: author.name },
    isCurrent: version.isCurrent,
    downloadUrl: `${baseUrl}/api/files/${fileId}/versions/${version.version}/download`,
  };
}
