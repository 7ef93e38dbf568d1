import { expect, test } from "bun:test";
import type { EventOf } from "../../../src/events/catalogue.ts";
import { Events } from "../../../src/events/events.ts";
import { LinkDownloads } from "../../../src/features/shares/link-downloads.ts";
import { PublicLinks } from "../../../src/features/shares/public-links.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { TestTree } from "../tree/support.ts";

test("the first download through a link is told once, however many come at once, and again for a new link", async () => {
  const tree = new TestTree();
  try {
    const accountId = tree.addAccount();
    const file = tree.addFile(accountId, "/photos", "a.jpg");
    const links = new PublicLinks(tree.db.sqlite, new Uint8Array(32), tree.clock);
    const events = new Events();
    const heard: EventOf<"share.downloaded">[] = [];
    events.on("share.downloaded", (_tx, event) => void heard.push(event));
    const downloads = new LinkDownloads({ links, writer: tree.writer, events, log: silentLog });
    const written = () => tree.writer.run(() => {});

    const token = tree.run((tx) => links.open(tx, file.id));
    expect(links.isDownloaded(token)).toBe(false);
    for (let count = 0; count < 5; count++) downloads.note(token, file);
    expect(heard).toEqual([]);
    await written();
    downloads.note(token, file);
    await written();
    expect(heard).toHaveLength(1);
    expect(heard[0]).toMatchObject({ accountId, isFirst: true, file: { publicId: file.publicId, folder: "/photos" } });
    expect(links.isDownloaded(token)).toBe(true);

    const fresh = tree.run((tx) => links.open(tx, file.id));
    downloads.note(fresh, file);
    // The old link is dead: nothing is told of it.
    downloads.note(token, file);
    await written();
    expect(heard).toHaveLength(2);
  } finally {
    tree.close();
  }
});
