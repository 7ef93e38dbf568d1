// What the API does not show yet: earlier contents and times of deletion, read from a data directory. Of this release
// alone; everything else here is kept from release to release.
import { Database } from "bun:sqlite";
import { join } from "node:path";

/** Checksums of all earlier versions of these files. */
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

/** When (ms) each deleted node went. */
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
