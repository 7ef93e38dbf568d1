// The step that lets shares be of albums copies the tables of shares and of the addresses that opened them.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { migrate } from "../../../src/db/migrate.ts";
import { MIGRATIONS } from "../../../src/db/migrations.ts";
import { silentLog } from "../../../src/lib/log.ts";

const STEP = "0040_albums";

/** A database of an earlier version, whose foreign keys are checked, with two accounts, files and shares of all kinds. */
function openOld(): Database {
  const sqlite = new Database(":memory:", { strict: true });
  sqlite.run("PRAGMA foreign_keys=ON");
  migrate(
    sqlite,
    silentLog,
    MIGRATIONS.slice(
      0,
      MIGRATIONS.findIndex(({ id }) => id === STEP),
    ),
  );
  for (const id of [1, 2]) {
    sqlite.run(
      `INSERT INTO users (id, public_id, email, email_key, name, role, plan, password_hash, created_at)
       VALUES (?1, 'usr_' || ?1, ?1, ?1, 'A', 'user', 'free', '', 0)`,
      [id],
    );
    sqlite.run("INSERT INTO accounts (id, root_id) VALUES (?1, ?1)", [id]);
    sqlite.run(
      `INSERT INTO nodes (id, public_id, account_id, parent_id, kind, name, sort_key, created_at, modified_at, seq,
         created_seq, size_bytes) VALUES (?1, 'fold_' || ?1, ?1, NULL, 0, '/', '/', 0, 0, 1, 1, 0)`,
      [id],
    );
  }
  for (let id = 1; id <= 300; id++) {
    sqlite.run(
      `INSERT INTO shares (id, public_id, account_id, node_id, kind, nonce, token_hash, created_at, downloaded_at, label,
         expires_at, password_hash, grant_epoch, max_downloads, downloads, views, last_accessed_at, pinned_version,
         hides_location, max_upload_bytes, uploads, uploaded_bytes, max_uploads_per_address, guesses_notified_at, can_write,
         shows_versions, recipient_email_key, recipient_id)
       VALUES (?1, 'shr_' || ?1, 1, 1, ?2, randomblob(8), randomblob(32), ?1, ?1 + 1, 'label ' || ?1, ?1 + 2, 'hash', ?1 % 5,
         ?1 + 3, ?1 % 7, ?1 % 11, ?1 + 4, ?1 % 3, ?1 % 2, ?1 + 5, ?1 % 13, ?1 * 9, ?1 + 6, ?1 + 7, ?1 % 2, ?1 % 2,
         iif(?1 % 3 = 1, 'a@example.org', NULL), iif(?1 % 3 = 2, 2, NULL))`,
      // Gaps, so that ids are not merely counted again.
      [id * 3, ["link", "upload", "account"][id % 3] ?? "link"],
    );
    for (let address = 0; address < id % 4; address++) {
      sqlite.run("INSERT INTO share_openers VALUES (?1, ?2, ?3)", [id * 3, new Uint8Array([address, id % 256]), id]);
    }
  }
  return sqlite;
}

test("all shares and the addresses that opened them survive", () => {
  const sqlite = openOld();
  const columns = sqlite
    .query<{ name: string }, []>("SELECT name FROM pragma_table_info('shares')")
    .all()
    .map(({ name }) => name)
    .join(", ");
  const shares = () => sqlite.query(`SELECT ${columns} FROM shares ORDER BY id`).all();
  const openers = () => sqlite.query("SELECT * FROM share_openers ORDER BY share_id, address_hash").all();
  const before = { shares: shares(), openers: openers() };
  expect([before.shares.length, before.openers.length]).toEqual([300, 450]);
  migrate(sqlite, silentLog);
  expect({ shares: shares(), openers: openers() }).toEqual(before);
  expect(sqlite.query("SELECT id FROM shares WHERE album_id IS NOT NULL").all()).toEqual([]);
  // A step that drops a table runs the triggers of deleted shares, unless it is careful.
  expect(sqlite.query("SELECT * FROM ended_shares").all()).toEqual([]);
  expect(sqlite.query("PRAGMA foreign_key_check").all()).toEqual([]);
  expect(sqlite.query("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
  sqlite.run("PRAGMA foreign_keys=ON");
  const targets = sqlite
    .query<{ table: string }, []>("SELECT DISTINCT \"table\" FROM pragma_foreign_key_list('share_openers')")
    .all();
  expect(targets).toEqual([{ table: "shares" }]);
  sqlite.run("DELETE FROM shares WHERE id = 9");
  expect(sqlite.query("SELECT * FROM share_openers WHERE share_id = 9").all()).toEqual([]);
  sqlite.run("DELETE FROM nodes WHERE id = 1");
  expect([shares(), openers()]).toEqual([[], []]);
  expect(() =>
    sqlite.run("INSERT INTO shares (public_id, kind, nonce, token_hash, created_at) VALUES ('x', 'link', x'', x'', 0)"),
  ).toThrow("shares_target");
  sqlite.close();
});
