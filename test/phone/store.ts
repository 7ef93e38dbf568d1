// Reads what the API does not show from a data directory: earlier versions and times of deletion. This file depends on
// the database of this release; all other files of this folder use only the API.
import { Database } from "bun:sqlite";
import { join } from "node:path";

/** The checksums of all earlier versions of these files. */
export function earlierContents(dataDir: string, fileIds: string[]): string[] {
  return read(dataDir, (database) =>
    database
      .query<{ digest: string }, [string]>(
        `SELECT lower(hex(b.digest)) AS digest FROM json_each(?1) j JOIN nodes n ON n.public_id = j.value
         JOIN versions v ON v.node_id = n.id JOIN blobs b ON b.id = v.blob_id`,
      )
      .all(JSON.stringify(fileIds))
      .map(({ digest }) => `sha256:${digest}`),
  );
}

/** The time of deletion (ms) of each deleted node, by its id. */
export function deletionTimes(dataDir: string): Map<string, number> {
  return read(
    dataDir,
    (database) =>
      new Map(
        database
          .query<{ id: string; at: number }, []>("SELECT public_id AS id, deleted_at AS at FROM tombstones")
          .all()
          .map(({ id, at }) => [id, at]),
      ),
  );
}

function read<T>(dataDir: string, use: (database: Database) => T): T {
  const database = new Database(join(dataDir, "larder.db"), { readonly: true });
  try {
    return use(database);
  } finally {
    database.close();
  }
}
