// The step to places by the locations in the metadata of files, with the rows of an earlier version.
import { expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { migrate } from "../../../../src/db/migrate.ts";
import { MIGRATIONS } from "../../../../src/db/migrations.ts";
import { FilePlaces } from "../../../../src/features/media/places/file-places.ts";
import { silentLog } from "../../../../src/lib/log.ts";

const LISBON = { id: 2_267_057, name: "Lisbon", region: null, country: "PT", latitude: 38.72, longitude: -9.13 };

function insertPhoto(sqlite: Database, id: number, metadata: string | null): void {
  sqlite.run(
    "INSERT INTO blobs (id, digest, size_bytes, crc32, refs, created_at, touched_at) VALUES (?1, ?2, 5, 0, 1, 0, 0)",
    [id, new Uint8Array([id])],
  );
  sqlite.run(
    `INSERT INTO nodes (id, public_id, account_id, parent_id, kind, name, sort_key, created_at, modified_at, seq,
       created_seq, size_bytes, media_type, version, content_at, blob_id, metadata)
     VALUES (?1, 'file_' || ?1, 1, 1, 1, ?1, ?1, 0, 0, 1, 1, 5, 'image/jpeg', 1, 0, ?1, ?2)`,
    [id, metadata],
  );
}

test("files that had a location before get their places, and follow its changes", () => {
  const sqlite = new Database(":memory:", { strict: true });
  const before = MIGRATIONS.findIndex(({ id }) => id === "0053_imports");
  migrate(sqlite, silentLog, MIGRATIONS.slice(0, before));
  sqlite.run(
    `INSERT INTO users (id, public_id, email, email_key, name, role, plan, password_hash, created_at)
     VALUES (1, 'usr_1', 'a@example.org', 'a@example.org', 'A', 'user', 'free', '', 0)`,
  );
  sqlite.run("INSERT INTO accounts (id, root_id) VALUES (1, 1)");
  insertPhoto(sqlite, 2, '{"location":"38.7,-9.1"}');
  insertPhoto(sqlite, 3, '{"description":"no location"}');
  insertPhoto(sqlite, 4, null);
  migrate(sqlite, silentLog);
  const places = new FilePlaces(sqlite);
  const townIdOf = (id: number) => sqlite.query("SELECT place_id AS place FROM photos WHERE node_id = ?1").get(id);
  expect(places.next(5)).toEqual([{ nodeId: 2, location: "38.7,-9.1" }]);
  places.put(2, LISBON);
  expect([places.hasQueued(), townIdOf(2), townIdOf(3), places.find(2)]).toEqual([
    false,
    { place: LISBON.id },
    { place: null },
    LISBON,
  ]);
  // The position in the file itself takes precedence.
  sqlite.run("INSERT INTO media_info (digest, place_id, program, read_at) VALUES (?1, 7, 'new', 0)", [
    new Uint8Array([2]),
  ]);
  expect(townIdOf(2)).toEqual({ place: 7 });
  sqlite.run("DELETE FROM media_info");
  sqlite.run(`UPDATE nodes SET metadata = '{"location":"1,2","x":"y"}' WHERE id = 4`);
  sqlite.run(`UPDATE nodes SET metadata = '{"description":"other"}' WHERE id = 3`);
  sqlite.run("UPDATE nodes SET metadata = NULL WHERE id = 2");
  expect(places.next(5)).toEqual([
    { nodeId: 2, location: null },
    { nodeId: 4, location: "1,2" },
  ]);
  places.put(2, null);
  places.put(4, "elsewhere");
  expect([townIdOf(2), townIdOf(4), places.find(4)]).toEqual([{ place: null }, { place: 0 }, undefined]);
  sqlite.run("DELETE FROM nodes WHERE id = 4");
  expect(sqlite.query("SELECT * FROM file_places").all()).toEqual([]);
  sqlite.close();
});
