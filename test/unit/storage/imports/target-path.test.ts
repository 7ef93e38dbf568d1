import { expect, test } from "bun:test";
import { normalizePath } from "../../../../src/lib/path.ts";
import { targetPath, validName } from "../../../../src/features/storage/imports/target-path.ts";

test.each([
  ["/", "a/b/c.jpg", "/a/b", "c.jpg"],
  ["/Photos", "/c.jpg", "/Photos", "c.jpg"],
  ["/Photos", "../../etc/passwd", "/Photos/__/__/etc", "passwd"],
  ["/", "a\\b\u0000.txt", "/", "a_b_.txt"],
  ["/", "", "/", "_"],
  ["/", "e\u0301.txt", "/", "\u00e9.txt"],
])("below %s, %s becomes valid", (folder, path, expectedFolder, name) => {
  const target = targetPath(folder, path);
  expect(target).toEqual({ folder: expectedFolder, name });
  expect(normalizePath(target.folder)).toBe(target.folder);
});

test("a long name is cut before its extension", () => {
  const name = validName(`${"ü".repeat(200)}.jpeg`);
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
  expect(name).toMatch(/^ü+\.jpeg$/);
  expect(Buffer.byteLength(validName(`a.${"x".repeat(300)}`))).toBe(255);
});
