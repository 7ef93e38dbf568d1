import type { Database } from "bun:sqlite";
import { AlbumRows } from "./album-rows.ts";
import type { RebuiltRowsOptions } from "./rebuilt-rows.ts";
import { ShareRecords } from "./share-rows.ts";
import type { StagedRecords } from "./staged-records.ts";

/** Inserts the albums of an account whose files are inserted, with their shares. @returns how many of both */
export function insertAlbums(
  sqlite: Database,
  accountId: number,
  staged: StagedRecords,
  { userIdOf, isEnded }: Pick<RebuiltRowsOptions, "userIdOf" | "isEnded">,
): { readonly albums: number; readonly shares: number } {
  const rows = new AlbumRows(sqlite);
  const shares = new ShareRecords(sqlite);
  const counts = { albums: 0, shares: 0 };
  for (const record of staged.albums()) {
    const id = rows.insert(accountId, record);
    if (id === undefined) continue;
    counts.albums++;
    for (const share of record.album.shares ?? []) {
      const recipientId = share.recipient === undefined ? null : userIdOf(share.recipient);
      if ((share.recipient !== undefined && recipientId === null) || isEnded(share.id)) continue;
      shares.insert(accountId, { albumId: id }, share, recipientId);
      counts.shares++;
    }
  }
  return counts;
}
