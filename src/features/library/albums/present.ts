import { toTimestamp } from "../../../lib/clock.ts";
import type { PresentContext } from "../files/present.ts";
import type { ShownAlbum } from "./types.ts";

/** The record of an album. */
export function presentAlbum(album: ShownAlbum, { baseUrl }: Pick<PresentContext, "baseUrl">) {
  const { coverId, owner } = album;
  return {
    id: album.publicId,
    type: "album" as const,
    name: album.name,
    description: album.description,
    itemCount: album.itemCount,
    coverFileId: album.chosenCoverId,
    coverUrl: coverId === null ? null : `${baseUrl}/api/files/${coverId}/download?thumbnail=medium`,
    createdAt: toTimestamp(album.createdAtMs),
    modifiedAt: toTimestamp(album.modifiedAtMs),
    isShared: album.isShared,
    ...(owner !== undefined && { owner: { id: owner.publicId, name: owner.name, email: owner.email } }),
  };
}
