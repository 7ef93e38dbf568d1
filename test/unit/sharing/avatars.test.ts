// Each picture read all members of all groups that somebody shares with: 150 ms for 200,000 pairs of share and member.
import { afterEach, expect, test } from "bun:test";
import type { User } from "../../../src/features/accounts/users/types.ts";
import { isInSharedGroup } from "../../../src/features/library/permissions/recipients.ts";
import { AvatarService } from "../../../src/features/sharing/avatars/service.ts";
import { blobOf, TestTree } from "../tree/support.ts";

const GROUP = 1;
const MEMBERS = [10_000, 10_001];
const STRANGER = 10_002;
const SHARES = 3;

let tree: TestTree;
afterEach(() => tree.close());

test("pictures of the members of a group are visible to somebody who shares with it, and begin with the person", () => {
  tree = new TestTree();
  const { sqlite } = tree.db;
  const owner = tree.addAccount();
  const file = tree.addFile(owner, "/", "story", { blob: blobOf("story"), onConflict: "rename" });
  tree.run(() => {
    sqlite.run("INSERT INTO groups (id, public_id, name, name_key, created_at) VALUES (1, 'grp_1', 'all', 'all', 1)");
    for (const id of [...MEMBERS, STRANGER]) {
      sqlite.run(
        `INSERT INTO users (id, public_id, email, email_key, name, role, plan, password_hash, created_at)
         VALUES (?1, 'usr_' || ?1, 'm' || ?1, 'm' || ?1, 'M', 'user', 'free', '', 0)`,
        [id],
      );
      sqlite.run("INSERT INTO avatars VALUES (?1, randomblob(32), x'0102', x'01', 1)", [id]);
    }
    for (const id of MEMBERS) sqlite.run("INSERT INTO group_members VALUES (?1, ?2, 1)", [GROUP, id]);
    for (let id = 1; id <= SHARES; id++) {
      sqlite.run(
        `INSERT INTO shares (id, public_id, account_id, node_id, kind, nonce, token_hash, created_at, group_id)
         VALUES (?1, 'shr_' || ?1, ?2, ?3, 'account', randomblob(8), randomblob(8), 1, ?4)`,
        [id, owner, file.id, GROUP],
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
  for (const id of MEMBERS) expect(avatars.find(viewer, `usr_${id}`, "64")?.bytes.length).toBe(1);
  expect(avatars.find(viewer, `usr_${STRANGER}`, "64")).toBeUndefined();
  expect(avatars.visibleTo(viewer).length).toBe(MEMBERS.length);

  const sql = `SELECT u.id FROM users u WHERE u.id = ?1 AND ${isInSharedGroup("?2", "u.id", "?3")}`;
  const plan = sqlite.query<{ detail: string }, [number, number, number]>(`EXPLAIN QUERY PLAN ${sql}`).all(1, owner, 0);
  const [first] = plan.map(({ detail }) => detail).filter((detail) => /^(SEARCH|SCAN) [ms] /.test(detail));
  expect(first).toContain("SEARCH m USING");
  expect(first).toContain("group_members_user (user_id=?");
});
