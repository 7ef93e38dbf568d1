import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  ManifestWriter,
  MANIFEST_NAME,
  readManifest,
} from "../../../../src/features/storage/import-export/manifest.ts";
import { walkSource } from "../../../../src/features/storage/import-export/source-walk.ts";
import { probeTarget, TargetNames } from "../../../../src/features/storage/import-export/target-names.ts";

let folder = "";

beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), "larder-transfer-"));
});
afterEach(() => fs.rmSync(folder, { recursive: true }));

describe("names on a target", () => {
  test("are those of the account if the target supports them", () => {
    const names = new TargetNames({ isPortableOnly: false, isCaseless: false });
    for (const name of ["a:b", "A", "a", "con", "x.", 'q"?*']) expect(names.nameFor(name)).toBe(name);
  });

  test("are replaced if it does not, uniquely, and the same in every run", () => {
    for (let run = 0; run < 2; run++) {
      const names = new TargetNames({ isPortableOnly: true, isCaseless: true });
      const given = ["a:b.txt", "a?b.txt", "A_B.txt", "con", "x.", "fine.txt"].map((name) => names.nameFor(name));
      expect(given).toEqual(["a_b.txt", "a_b (1).txt", "A_B (2).txt", "_con", "x_", "fine.txt"]);
    }
  });

  test("avoid reserved names", () => {
    const names = new TargetNames({ isPortableOnly: false, isCaseless: true }, [MANIFEST_NAME]);
    expect(names.nameFor("Larder-Export.json")).toBe("Larder-Export (1).json");
  });

  test("probing a target leaves no files behind", () => {
    expect(probeTarget(folder)).toEqual({ isPortableOnly: false, isCaseless: false });
    expect(fs.readdirSync(folder)).toEqual([]);
  });
});

describe("a manifest", () => {
  test("is read as it was written, line by line", () => {
    const writer = new ManifestWriter(folder, "/", "2026-01-01T00:00:00.000Z");
    writer.add({ path: "a.txt", tags: ["red"], metadata: { description: "two\nlines" } });
    writer.add({ path: "f/b_c", name: "b:c", capturedAt: "2026-01-01T00:00:00.000Z" });
    const album = { name: "Rome", description: "two\nlines", cover: "f/b_c", items: ["f/b_c", "a.txt"] };
    const account = {
      albums: [album, { name: "x", items: [] }],
      pins: [{ album: "Rome" }, { folder: "f" }],
      person: { email: "a@example.org", picture: "UklGRg==" },
    };
    writer.finish(account, ["f/b_c.xmp"]);
    const manifest = readManifest(folder);
    expect([...(manifest?.sidecars ?? [])]).toEqual(["f/b_c.xmp"]);
    expect(manifest?.account).toEqual(account);
    const labels = manifest?.labels;
    expect(labels?.get("a.txt")).toEqual({ path: "a.txt", tags: ["red"], metadata: { description: "two\nlines" } });
    expect(labels?.get("f/b_c")).toEqual({ path: "f/b_c", name: "b:c", capturedAt: "2026-01-01T00:00:00.000Z" });
    expect(fs.readdirSync(folder)).toEqual([MANIFEST_NAME]);
  });

  test("that is discarded leaves the earlier one", () => {
    fs.writeFileSync(join(folder, MANIFEST_NAME), "earlier");
    const writer = new ManifestWriter(folder, "/", "2026-01-01T00:00:00.000Z");
    writer.discard();
    expect(fs.readFileSync(join(folder, MANIFEST_NAME), "utf8")).toBe("earlier");
    expect(fs.readdirSync(folder)).toEqual([MANIFEST_NAME]);
  });

  test.each(["", "{", "[]", '{"format":"other","entries":[]}', '{"format":"larder-export","entries":{}}', "null"])(
    "that is something else is none: %s",
    (text) => {
      fs.writeFileSync(join(folder, MANIFEST_NAME), text);
      expect(readManifest(folder)).toBeUndefined();
    },
  );

  test("preserves the valid fields of an entry that was written by hand", () => {
    const entries = [
      null,
      { path: 1 },
      { path: "a", tags: ["a,b"], metadata: { n: 1, t: "x" }, capturedAt: "soon", name: 5 },
      { path: "b", tags: ["ok", 7], metadata: "none", capturedAt: "1", fileModifiedAt: "1", originalName: "../x" },
    ];
    const albums = [null, { name: "a" }, { name: 1, items: [] }, { name: "b", items: ["x", 1], cover: 2 }];
    const account = { albums, pins: [null, { folder: 1 }, { folder: "f" }], person: { email: "a@example.org" } };
    fs.writeFileSync(
      join(folder, MANIFEST_NAME),
      JSON.stringify({ format: "larder-export", entries, ...account, sidecars: [1, "a.xmp"] }),
    );
    const { labels, sidecars, ...rest } = readManifest(folder) ?? {};
    expect([...(sidecars ?? [])]).toEqual(["a.xmp"]);
    expect(rest).toEqual({ account: { albums: [{ name: "b", items: ["x"] }], pins: [{ folder: "f" }] } });
    expect([...(labels ?? [])]).toEqual([
      ["a", { path: "a", tags: [], metadata: { t: "x" } }],
      ["b", { path: "b", tags: ["ok"] }],
    ]);
  });
});

describe("walking a source", () => {
  function walk(labels?: Record<string, string>) {
    const labelsOf = labels === undefined ? undefined : (path: string) => labelOf(path, labels[path]);
    const options = { source: folder, folder: "/to", isRenaming: false, labelsOf, leftOut: "/nonexistent" };
    return [...walkSource({ ...options, sidecars: new Set() })];
  }

  test("yields a folder before its children, files before folders, by name", () => {
    fs.mkdirSync(join(folder, "b/inner"), { recursive: true });
    for (const name of ["z", "a", "b/y", "b/inner/x"]) fs.writeFileSync(join(folder, name), "");
    const entries = walk().map((found) => (found.kind === "folder" ? found.treePath : `${found.kind} ${found.path}`));
    const file = (name: string) => `file ${join(folder, name)}`;
    expect(entries).toEqual(["/to", file("a"), file("z"), "/to/b", file("b/y"), "/to/b/inner", file("b/inner/x")]);
  });

  test("restores the names of exported files and folders", () => {
    fs.mkdirSync(join(folder, "a_b"));
    fs.writeFileSync(join(folder, "a_b/c_d"), "");
    const entries = walk({ a_b: "a:b", "a_b/c_d": "c:d" });
    expect(entries).toMatchObject([{ treePath: "/to" }, { treePath: "/to/a:b" }, { folder: "/to/a:b", name: "c:d" }]);
  });

  test("never leaves the account through a name in a manifest", () => {
    fs.writeFileSync(join(folder, "a"), "");
    for (const name of ["../a", "..", "", "a/b"]) {
      expect(walk({ a: name })).toMatchObject([{ kind: "folder" }, { kind: "problem", reason: "bad_name" }]);
    }
  });
});

function labelOf(path: string, name: string | undefined) {
  return name === undefined ? undefined : { path, name };
}
