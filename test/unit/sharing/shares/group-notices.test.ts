/** A share with a large group notifies its members in small steps, each once, and sends no emails. */
import { afterEach, expect, test } from "bun:test";
import { Events } from "../../../../src/events/events.ts";
import type { User } from "../../../../src/features/accounts/users/types.ts";
import { GroupNotices } from "../../../../src/features/sharing/shares/group-notices.ts";
import { ShareRows } from "../../../../src/features/sharing/shares/queries.ts";
import { ShareTargets } from "../../../../src/features/sharing/shares/targets.ts";
import { blobOf, TestTree } from "../../tree/support.ts";

const MEMBERS = 500;

let tree: TestTree;
afterEach(() => tree.close());

test("500 members are notified in batches, each once, without email; nobody is who left before their turn", async () => {
  tree = new TestTree();
  const { sqlite } = tree.db;
  const owner = tree.addAccount();
  const file = tree.addFile(owner, "/", "story", { blob: blobOf("story"), onConflict: "rename" });
  sqlite.run("INSERT INTO groups (id, public_id, name, name_key, created_at) VALUES (1, 'grp_1', 'all', 'all', 1)");
  const members = Array.from({ length: MEMBERS }, (_, index) => {
    const id = 10_000 + index;
    sqlite.run(
      `INSERT INTO users (id, public_id, email, email_key, name, role, plan, password_hash, created_at)
       VALUES (?1, 'usr_' || ?1, 'm' || ?1, 'm' || ?1, 'M', 'user', 'free', '', 0)`,
      [id],
    );
    return id;
  });
  for (const id of [owner, ...members]) sqlite.run("INSERT INTO group_members VALUES (1, ?1, 1)", [id]);
  sqlite.run(
    `INSERT INTO shares (id, public_id, account_id, node_id, kind, nonce, token_hash, created_at, group_id)
     VALUES (1, 'shr_1', ?1, ?2, 'account', x'01', x'02', 1, 1)`,
    [owner, file.id],
  );

  const events = new Events();
  const notified: number[] = [];
  const mailed: number[] = [];
  events.on("share.received", (_tx, { accountId, isMailed }) => {
    notified.push(accountId);
    if (isMailed !== false) mailed.push(accountId);
  });
  const notices = new GroupNotices({
    sqlite,
    writer: tree.writer,
    clock: tree.clock,
    events,
    rows: new ShareRows(sqlite),
    targets: new ShareTargets(tree.read, { findById: () => undefined }),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only these properties are read
    users: { findById: (id) => ({ id, publicId: `usr_${id}`, name: "A", disabledAtMs: null }) as User },
  });
  let wasQueued = false;
  notices.onQueued = () => {
    wasQueued = true;
  };
  tree.run((tx) => notices.queue(tx, 1));
  expect(wasQueued).toBe(true);

  const steps: number[] = [];
  for (let count = await notices.notifySome(); count !== undefined; count = await notices.notifySome()) {
    // The last member leaves after the first step.
    if (steps.length === 0) sqlite.run("DELETE FROM group_members WHERE user_id = ?1", [members.at(-1) ?? 0]);
    steps.push(count);
  }
  expect(Math.max(...steps)).toBeLessThanOrEqual(50);
  expect(notified).toEqual(members.slice(0, -1));
  expect(mailed).toEqual([]);
});
