import { describe, expect, test } from "bun:test";
import { AppError } from "../../../../src/errors.ts";
import { readMetadata, readPairs } from "../../../../src/features/uploads/tus/metadata.ts";

function header(pairs: Record<string, string>): string {
  return Object.entries(pairs)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString("base64")}`)
    .join(",");
}

function reasonOf(action: () => unknown): string | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    if (error instanceof AppError) return error.reason;
    throw error;
  }
}

describe("readPairs", () => {
  test("reads keys with and without values", () => {
    expect([...readPairs("")]).toEqual([]);
    expect([...readPairs("a YQ==, b ,c,d ZA")]).toEqual([
      ["a", "a"],
      ["b", ""],
      ["c", ""],
      ["d", "d"],
    ]);
  });

  test("rejects malformed pairs, invalid base64 and UTF-8, repeated keys, and too many pairs", () => {
    const many = Array.from({ length: 65 }, (_, index) => `k${index}`).join(",");
    for (const text of ["a b c", "a YQ==,a YQ==", "ä YQ==", "a !!!!", "a Y", "a /w==", ",", many])
      expect(reasonOf(() => readPairs(text))).toBe("invalid_field");
  });
});

describe("readMetadata", () => {
  test("resolves the location from folder and relativePath", () => {
    const targetOf = (pairs: Record<string, string>) => {
      const { name, fields } = readMetadata(header(pairs));
      return [fields.folderPath, name];
    };
    expect(targetOf({})).toEqual(["/", "file"]);
    expect(targetOf({ filename: "C:\\docs\\a.txt" })).toEqual(["/", "a.txt"]);
    expect(targetOf({ folder: "/a/", relativePath: "b/c/d.txt" })).toEqual(["/a/b/c", "d.txt"]);
    expect(targetOf({ relativePath: "/b/d.txt", filename: "other.txt" })).toEqual(["/b", "other.txt"]);
    expect(targetOf({ relativePath: "null", filename: "a" })).toEqual(["/", "a"]);
  });

  test("rejects paths that leave the folder", () => {
    for (const relativePath of ["../a", "x/../../a", "x/./a", "..\\..\\x/a"])
      expect(reasonOf(() => readMetadata(header({ relativePath })))).toBe("invalid_path");
  });

  test("accepts times in milliseconds, as from browsers, and in ISO 8601", () => {
    const timeOf = (lastModified: string) => readMetadata(header({ lastModified })).fields.fileModifiedAt;
    expect(timeOf("0")).toBe("1970-01-01T00:00:00.000Z");
    expect(timeOf("-1000")).toBe("1969-12-31T23:59:59.000Z");
    expect(timeOf("2026-01-02T03:04:05+01:00")).toBe("2026-01-02T03:04:05+01:00");
    for (const text of ["9999999999999999", "2026-01-02", "soon"])
      expect(reasonOf(() => timeOf(text))).toBe("invalid_field");
  });
});
