import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { numberedName, splitName } from "../../../src/tree/tables/names.ts";
import { reasonOf, TestTree } from "./support.ts";

describe("a numbered name", () => {
  test.each([
    ["photo.jpg", "photo (1).jpg"],
    ["archive.tar.gz", "archive.tar (1).gz"],
    [".profile", ".profile (1)"],
    ["README", "README (1)"],
    ["ends.", "ends (1)."],
  ])("%s becomes %s", (name, expected) => expect(numberedName(name, 1)).toBe(expected));

  test("is cut to 255 bytes between graphemes, and keeps the extension", () => {
    const family = "👨‍👩‍👧‍👦";
    const name = `${family.repeat(9)}${"é".normalize("NFD").repeat(6)}.jpg`;
    const numbered = numberedName(name, 12);
    expect(Buffer.byteLength(numbered)).toBeLessThanOrEqual(255);
    expect(numbered.endsWith(" (12).jpg")).toBe(true);
    expect(name.startsWith(splitName(numbered).stem.replace(" (12)", ""))).toBe(true);
    const long = `${"x".repeat(251)}.jpg`;
    expect(numberedName(long, 1)).toBe(`${"x".repeat(247)} (1).jpg`);
    expect(Buffer.byteLength(numberedName(`a.${"e".repeat(253)}`, 7))).toBe(255);
    expect(Buffer.byteLength(numberedName("漢".repeat(85), 7))).toBeLessThanOrEqual(255);
  });
});

describe("numbering in a folder", () => {
  let tree: TestTree;
  let accountId: number;
  beforeAll(() => {
    tree = new TestTree();
    accountId = tree.addAccount();
  });
  afterAll(() => tree.close());
  const addNumbered = (folder: string, name: string) => tree.addFile(accountId, folder, name, { onConflict: "rename" });

  test("takes the lowest free number, also after one was freed", () => {
    const made = Array.from({ length: 15 }, () => addNumbered("/n", "a.txt"));
    expect(made.map(({ name }) => name)).toEqual([
      "a.txt",
      ...Array.from({ length: 14 }, (_, i) => `a (${i + 1}).txt`),
    ]);
    const [, , , third] = made;
    if (third === undefined) throw new Error("unreachable");
    tree.run((tx) => tree.write.deleteFile(tx, third));
    expect(addNumbered("/n", "a.txt").name).toBe("a (3).txt");
    expect(addNumbered("/n", "a.txt").name).toBe("a (15).txt");
    tree.run((tx) => tree.write.updateFile(tx, { accountId, publicId: made[1]?.publicId ?? "" }, { name: "other" }));
    expect(addNumbered("/n", "a.txt").name).toBe("a (1).txt");
  });

  test("a rolled-back transaction leaves no gap", () => {
    addNumbered("/u", "a");
    expect(() =>
      tree.run((tx) => {
        const folder = tree.write.ensureFolder(tx, accountId, "/u");
        tree.store.names.numbered(tx, folder.id, "a");
        throw new Error("undone");
      }),
    ).toThrow("undone");
    expect(addNumbered("/u", "a").name).toBe("a (1)");
  });

  test("many equal names in one transaction are numbered without gaps, also with one freed between them", () => {
    const source = addNumbered("/m", "a.txt");
    const options = { onConflict: "rename", preserveMetadata: true, createdBy: accountId, quotaBytes: null } as const;
    const names = tree.run((tx) => {
      const copies = Array.from({ length: 4 }, () => tree.write.copy(tx, source, "/m", options).node);
      tree.write.deleteFile(tx, copies[1] ?? source);
      return [...copies, ...Array.from({ length: 2 }, () => tree.write.copy(tx, source, "/m", options).node)].map(
        ({ name }) => name,
      );
    });
    expect(names).toEqual(["a (1).txt", "a (2).txt", "a (3).txt", "a (4).txt", "a (2).txt", "a (5).txt"]);
    expect(addNumbered("/m", "a.txt").name).toBe("a (6).txt");
  });

  test("a name freed and taken again in one transaction is numbered correctly", async () => {
    const [, second] = [addNumbered("/t", "a"), addNumbered("/t", "a"), addNumbered("/t", "a")];
    if (second === undefined) throw new Error("unreachable");
    const options = { onConflict: "rename", preserveMetadata: true, createdBy: accountId, quotaBytes: null } as const;
    const copies = await Promise.all([
      tree.writer.run((tx) => tree.write.copy(tx, second, "/t", options).node.name),
      tree.writer.run((tx) => tree.write.deleteFile(tx, second).name),
      tree.writer.run(() => tree.read.findFolderByPath(accountId, "/t")?.itemCount),
    ]);
    expect(copies).toEqual(["a (1) (1)", "a (1)", 3]);
    expect(addNumbered("/t", "a").name).toBe("a (1)");
  });

  test("files and folders share one case-sensitive namespace", () => {
    tree.addFile(accountId, "/s", "x");
    const folder = (name: string) => () =>
      tree.run((tx) => tree.write.createFolder(tx, { accountId, parentPath: "/s", name, metadata: {} }));
    expect(reasonOf(folder("x"))).toBe("name_taken");
    expect(folder("X")().path).toBe("/s/X");
    expect(reasonOf(() => tree.addFile(accountId, "/s", "X", { onConflict: "version" }))).toBe("name_taken");
    expect(reasonOf(() => tree.addFile(accountId, "/s/x", "below"))).toBe("not_a_folder");
    expect(tree.addFile(accountId, "/s", "X", { onConflict: "rename" }).name).toBe("X (1)");
  });
});
