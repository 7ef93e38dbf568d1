// Small helpers of lists: search filters, view preferences, and actions on many entries.
import { describe, expect, test } from "bun:test";
import type { Entry, FileRecord, FolderRecord } from "../../../src/client/api/types.ts";
import { groupByFolder, canMoveInto, inBatches } from "../../../src/client/entries/actions/bulk.ts";
import { readPreferences } from "../../../src/client/entries/read-preferences.ts";
import { filterOf, splitByMatches, withFilter, searchTerms } from "../../../src/client/features/search/query-terms.ts";
import { ApiError, OfflineError } from "../../../src/client/api/http.ts";

describe("the filters of a query", () => {
  test("are read and set without changing other terms", () => {
    const query = 'beach type:image tag:"summer holiday" -ext:gif "exact words"';
    expect(filterOf(query, "type")).toBe("image");
    expect(filterOf(query, "tag")).toBe("summer holiday");
    expect(filterOf(query, "ext")).toBeUndefined();
    expect(withFilter(query, "type", "video")).toBe('beach tag:"summer holiday" -ext:gif "exact words" type:video');
    expect(withFilter(query, "tag", undefined)).toBe('beach type:image -ext:gif "exact words"');
    expect(withFilter("", "in", "/a b")).toBe('in:"/a b"');
    expect(withFilter("a", "ext", "")).toBe("a");
  });

  test("are not highlighted", () => {
    expect(searchTerms('beach type:image -sand "white sand" name:sun')).toEqual(["beach", "white sand", "sun"]);
  });

  test("matches are highlighted at the start of words, ignoring case and accents", () => {
    expect(splitByMatches("Beach house.txt", ["beach"])).toEqual([
      { text: "Beach", isFound: true },
      { text: " house.txt", isFound: false },
    ]);
    expect(splitByMatches("Über-Café", ["cafe", "uber"])).toEqual([
      { text: "Über", isFound: true },
      { text: "-", isFound: false },
      { text: "Café", isFound: true },
    ]);
    expect(splitByMatches("abcab", ["cab"])).toEqual([{ text: "abcab", isFound: false }]);
    expect(splitByMatches("plain", [])).toEqual([{ text: "plain", isFound: false }]);
  });
});

describe("preferences", () => {
  test("are as stored, and default if that is invalid", () => {
    const byDefault = { layout: "list", density: "comfortable", lists: {} };
    expect(readPreferences(undefined)).toEqual(byDefault as never);
    expect(readPreferences("{nonsense")).toEqual(byDefault as never);
    expect(readPreferences('{"layout":7,"lists":[1]}')).toEqual(byDefault as never);
    const files = { sort: "size", order: "desc", columns: { tags: false }, widths: { size: 7 } } as const;
    const stored = { layout: "tiles", density: "compact", lists: { files } } as const;
    expect(readPreferences(JSON.stringify(stored))).toEqual(stored);
    const damaged = { files: { order: "up", columns: { tags: 1 }, widths: { size: -7 } }, other: {} };
    expect(readPreferences(JSON.stringify({ ...stored, lists: damaged })).lists).toEqual({
      files: { columns: {}, widths: {} },
    });
  });
});

describe("actions on many entries", () => {
  const ids = Array.from({ length: 2500 }, (_, index) => String(index));

  test("run in batches; failures of one batch don't stop the others", async () => {
    const sizes: number[] = [];
    const reported: number[] = [];
    const result = await inBatches(
      ids,
      (portion) => {
        sizes.push(portion.length);
        if (sizes.length === 2) throw new ApiError("Not there.", { status: 404, code: "NOT_FOUND" });
        const failed = {
          id: portion[0] ?? "",
          error: { code: "CONFLICT", message: "Taken.", details: { reason: "name_taken" } },
        };
        return Promise.resolve({ done: portion.slice(1).map((id) => file(id, "/")), failed: [failed] });
      },
      (done) => void reported.push(done),
    );
    expect(sizes).toEqual([1000, 1000, 500]);
    expect(reported).toEqual([1000, 2000, 2500]);
    expect(result.done).toHaveLength(999 + 499);
    expect(result.failed).toHaveLength(1 + 1000 + 1);
    expect(result.failed[1]).toEqual({ id: "1000", message: "Not there." });
  });

  test("end if not even the first request reached the server", async () => {
    const offline = inBatches(ids, () => Promise.reject(new OfflineError("cut")));
    await expect(offline).rejects.toBeInstanceOf(OfflineError);
  });

  test("nothing can be moved into itself or to where it is", () => {
    const box = folder("box", "/", "/box");
    expect(canMoveInto([box], "/box")).toBe(false);
    expect(canMoveInto([box], "/box/below")).toBe(false);
    expect(canMoveInto([box], "/boxes")).toBe(true);
    expect(canMoveInto([file("a", "/x")], "/x")).toBe(false);
    expect(canMoveInto([file("a", "/x"), file("b", "/y")], "/x")).toBe(true);
  });

  test("undoing a move groups entries by their original folder", () => {
    const entries: Entry[] = [file("a", "/x"), file("b", "/y"), file("c", "/x")];
    expect([...groupByFolder(entries)]).toEqual([
      ["/x", ["a", "c"]],
      ["/y", ["b"]],
    ]);
  });
});

function file(id: string, parent: string): FileRecord {
  const time = "2026-01-01T00:00:00.000Z";
  return {
    type: "file",
    id,
    name: id,
    mimeType: "text/plain",
    size: 1,
    folder: parent,
    url: "",
    thumbnailUrl: "",
    hasThumbnail: false,
    createdAt: time,
    modifiedAt: time,
    fileModifiedAt: null,
    isPublic: false,
    tags: [],
    metadata: {},
    checksum: "",
    version: 1,
  };
}

function folder(id: string, parent: string, path: string): FolderRecord {
  const time = "2026-01-01T00:00:00.000Z";
  return {
    type: "folder",
    id,
    name: id,
    folder: parent,
    path,
    itemCount: 0,
    createdAt: time,
    modifiedAt: time,
    description: "",
  };
}
