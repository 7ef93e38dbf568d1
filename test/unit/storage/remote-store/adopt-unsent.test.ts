import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { type Digest, digestFromBytes, digestToBytes } from "../../../../src/blobs/digest.ts";
import { migrate } from "../../../../src/db/migrate.ts";
import { adoptUnsent } from "../../../../src/features/storage/remote-store/adopt-unsent.ts";
import { objectKey } from "../../../../src/features/storage/remote-store/remote-contents.ts";
import { silentLog } from "../../../../src/lib/log.ts";

const FOLDER = "home/sha256/";
const NOW_MS = 5_000;

function digestOfText(text: string): Digest {
  return digestFromBytes(createHash("sha256").update(text).digest());
}

test("only blobs without a row are requested, and nothing counts as stored on this disk", async () => {
  const sqlite = new Database(":memory:", { strict: true });
  migrate(sqlite, silentLog);
  const addBlob = sqlite.prepare(
    "INSERT INTO blobs (digest, size_bytes, crc32, refs, created_at, touched_at) VALUES (?1, 3, 0, ?2, 1, 1)",
  );
  const addRemote = sqlite.prepare(
    "INSERT INTO remote_blobs (digest, size_bytes, stored_at, used_at, leaving_at, etag) VALUES (?1, 3, 1, ?2, ?3, 'e')",
  );
  const bytes = (text: string) => digestToBytes(digestOfText(text));
  for (const text of ["known", "new", "leaving", "short", "absent"]) addBlob.run(bytes(text), 1);
  addBlob.run(bytes("unnamed"), 0);
  addRemote.run(bytes("known"), 7, null);
  addRemote.run(bytes("leaving"), null, 9);
  const sizes = new Map([
    ["new", 3],
    ["leaving", 3],
    ["short", 2],
  ]);
  const sizesByKey = new Map([...sizes].map(([text, size]) => [objectKey(FOLDER, digestOfText(text)), size]));
  const requested: string[] = [];
  const absent = await adoptUnsent({
    sqlite,
    client: {
      async head(key) {
        requested.push(key);
        const sizeBytes = sizesByKey.get(key);
        return sizeBytes === undefined ? undefined : { sizeBytes, etag: "" };
      },
    },
    folder: FOLDER,
    nowMs: NOW_MS,
    onProgress() {},
  });
  const keysOf = (...texts: string[]) => texts.map((text) => objectKey(FOLDER, digestOfText(text))).sort();
  expect(requested.sort()).toEqual(keysOf("new", "leaving", "short", "absent"));
  expect(absent.sort()).toEqual(["short", "absent"].map(digestOfText).sort());
  const rows = sqlite
    .query<{ digest: Uint8Array; stored: number; used: number | null; leaving: number | null }, []>(
      "SELECT digest, stored_at AS stored, used_at AS used, leaving_at AS leaving FROM remote_blobs",
    )
    .all();
  const found = new Map(rows.map(({ digest, ...row }) => [digestFromBytes(digest), row]));
  expect(found).toEqual(
    new Map([
      [digestOfText("known"), { stored: 1, used: null, leaving: null }],
      [digestOfText("leaving"), { stored: NOW_MS, used: null, leaving: null }],
      [digestOfText("new"), { stored: NOW_MS, used: null, leaving: null }],
    ]),
  );
  sqlite.close();
});
