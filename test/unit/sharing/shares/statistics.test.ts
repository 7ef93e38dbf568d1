import { expect, test } from "bun:test";
import type { EventOf } from "../../../../src/events/catalogue.ts";
import { Events } from "../../../../src/events/events.ts";
import { PublicLinks } from "../../../../src/features/sharing/shares/file-links.ts";
import { ShareRows } from "../../../../src/features/sharing/shares/queries.ts";
import { ShareStatistics } from "../../../../src/features/sharing/shares/statistics.ts";
import { summarizeFile } from "../../../../src/tree/model/file-summary.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { TestTree } from "../../tree/support.ts";

/** Creates a file with public links, and the services that count their downloads. */
function build(tree: TestTree) {
  const accountId = tree.addAccount();
  const file = tree.addFile(accountId, "/photos", "a.jpg");
  const events = new Events();
  const heard: EventOf<"share.downloaded">[] = [];
  const emitted: string[] = [];
  events.on("share.downloaded", (_tx, event) => void heard.push(event));
  events.on("share.created", () => void emitted.push("created"));
  events.on("share.revoked", () => void emitted.push("revoked"));
  const links = new PublicLinks(tree.db.sqlite, new Uint8Array(32), tree.clock, events);
  const rows = new ShareRows(tree.db.sqlite);
  const statistics = new ShareStatistics({ rows, writer: tree.writer, events, clock: tree.clock, log: silentLog });
  const open = () => {
    const share = rows.findByToken(tree.run((tx) => links.open(tx, file.id)));
    if (share === undefined) throw new Error("a link was just opened");
    return share;
  };
  return { accountId, file, facts: summarizeFile(file), heard, emitted, links, rows, statistics, open };
}

test("each download through a link emits one event; isFirst marks the first download of each link", async () => {
  const tree = new TestTree();
  try {
    const { accountId, file, facts, heard, statistics, rows, open } = build(tree);
    const share = open();
    for (let count = 0; count < 3; count++) statistics.noteDownload(share, facts);
    expect(heard).toEqual([]);
    expect(statistics.countsOf(share).downloads).toBe(3);
    await statistics.flush();
    statistics.noteDownload(share, facts);
    await statistics.flush();
    expect(heard.map(({ isFirst }) => isFirst)).toEqual([true, false, false, false]);
    expect(heard[0]).toMatchObject({ accountId, shareId: share.publicId, file: { publicId: file.publicId } });
    expect(rows.find(share.publicId)).toMatchObject({ downloads: 4 });

    const fresh = open();
    statistics.noteDownload(fresh, facts);
    // The old link has ended: it emits nothing, and its downloads don't count for the new link.
    statistics.noteDownload(share, facts);
    await statistics.flush();
    expect(heard).toHaveLength(5);
    expect(heard[4]).toMatchObject({ isFirst: true, shareId: fresh.publicId });
    expect(rows.find(fresh.publicId)).toMatchObject({ downloads: 1 });
  } finally {
    tree.close();
  }
});

test("maxDownloads is exact, with one event for each download", async () => {
  const tree = new TestTree();
  try {
    const { facts, heard, statistics, rows, open } = build(tree);
    const share = { ...open(), maxDownloads: 3 };
    tree.run(() => rows.update(share));
    const taken = await Promise.allSettled(Array.from({ length: 10 }, () => statistics.takeDownload(share, facts)));
    expect(taken.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    for (const one of taken)
      if (one.status === "rejected") expect(one.reason).toMatchObject({ reason: "share_used_up" });
    expect(heard.map(({ isFirst }) => isFirst)).toEqual([true, false, false]);
    expect(rows.find(share.publicId)).toMatchObject({ downloads: 3, grantEpoch: 1 });
  } finally {
    tree.close();
  }
});

test("maxDownloads set during downloads includes those not yet written", async () => {
  // Without this, all downloads since the last write, up to a second earlier, would not count.
  const tree = new TestTree();
  try {
    const { facts, statistics, rows, open } = build(tree);
    const before = open();
    statistics.noteDownload(before, facts);
    statistics.noteDownload(before, facts);
    tree.run(() => rows.update({ ...before, maxDownloads: 3 }));
    // The share was opened before the change, but the current limit applies.
    const counted = await Promise.allSettled(Array.from({ length: 4 }, async () => statistics.count(before, facts)));
    expect(counted.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    await statistics.flush();
    expect(rows.find(before.publicId)).toMatchObject({ downloads: 3 });
  } finally {
    tree.close();
  }
});

test("a share deleted since it was opened rejects downloads", () => {
  const tree = new TestTree();
  try {
    const { file, facts, links, statistics, open } = build(tree);
    const share = open();
    tree.run((tx) => links.close(tx, file.id));
    expect(() => statistics.count(share, facts)).toThrow("no longer exists");
  } finally {
    tree.close();
  }
});

test("the sweep removes expired shares, oldest first, up to a limit", () => {
  const tree = new TestTree();
  try {
    const { rows, open } = build(tree);
    const share = open();
    tree.run(() => rows.update({ ...share, expiresAtMs: 1000 }));
    expect(tree.run(() => rows.sweep(1000, 10))).toBe(0);
    expect(tree.run(() => rows.sweep(1001, 10))).toBe(1);
    expect(rows.find(share.publicId)).toBeUndefined();
  } finally {
    tree.close();
  }
});

test("opening and closing a public link emit events", () => {
  const tree = new TestTree();
  try {
    const { file, links, emitted, open } = build(tree);
    open();
    tree.run((tx) => links.close(tx, file.id));
    tree.run((tx) => links.close(tx, file.id));
    expect(emitted).toEqual(["created", "revoked"]);
    expect(links.findToken(file.id)).toBeUndefined();
  } finally {
    tree.close();
  }
});
