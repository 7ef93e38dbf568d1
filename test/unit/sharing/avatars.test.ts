/** Each picture read all members of all groups that somebody shares with: 150 ms for 200,000 pairs of share and member. */
import { afterEach, expect, test } from "bun:test";
import type { User } from "../../../src/features/accounts/users/types.ts";
import { AvatarService } from "../../../src/features/sharing/avatars/service.ts";
import { blobOf, TestTree } from "../tree/support.ts";

const MEMBERS = 2_000;
const SHARES = 100;
const PICTURES = 1_000;
/** Reading all members for each of the pictures takes longer on any machine. */
const MS_MAX = 10_000;

let tree: TestTree;
afterEach(() => tree.close());

test("pictures of people are found quickly by somebody who shares much with a large group", () => {
  tree = new TestTree();
  const { sqlite } = tree.db;
  const owner = tree.addAccount();
  const file = tree.addFile(owner, "/", "story", { blob: blobOf("story"), onConflict: "rename" });
  tree.run(() => {
    sqlite.run("INSERT INTO groups (id, public_id, name, name_key, created_at) VALUES (1, 'grp_1', 'all', 'all', 1)");
    for (let id = 10_000; id < 10_000 + MEMBERS; id++) {
      sqlite.run(
        `INSERT INTO users (id, public_id, email, email_key, name, role, plan, password_hash, created_at)
         VALUES (?1, 'usr_' || ?1, 'm' || ?1, 'm' || ?1, 'M', 'user', 'free', '', 0)`,
        [id],
      );
      sqlite.run("INSERT INTO group_members VALUES (1, ?1, 1)", [id]);
      sqlite.run("INSERT INTO avatars VALUES (?1, randomblob(32), x'0102', x'01', 1)", [id]);
    }
    for (let id = 1; id <= SHARES; id++) {
      sqlite.run(
        `INSERT INTO shares (id, public_id, account_id, node_id, kind, nonce, token_hash, created_at, group_id)
         VALUES (?1, 'shr_' || ?1, ?2, ?3, 'account', randomblob(8), randomblob(8), 1, 1)`,
        [id, owner, file.id],
      );
    }
  });
  const avatars = new AvatarService({
    sqlite,
    writer: tree.writer,
    clock: tree.clock,
    people: { isOn: false },
    editProcess: { makeAvatar: () => Promise.reject(new Error("no image is encoded here")) },
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only these properties are read
  const viewer = { id: owner, role: "user" } as User;
  const sinceMs = performance.now();
  for (let id = 10_000; id < 10_000 + PICTURES; id++) {
    expect(avatars.find(viewer, `usr_${id}`, "64")?.bytes.length).toBe(1);
  }
  expect(performance.now() - sinceMs).toBeLessThan(MS_MAX);
  expect(avatars.visibleTo(viewer).length).toBe(1_000);
}, 120_000);
