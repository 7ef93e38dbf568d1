import { describe, expect, test } from "bun:test";
import { readBasic } from "../../../../src/features/accounts/app-passwords/basic.ts";
import { isClientPath } from "../../../../src/features/accounts/app-passwords/client-paths.ts";
import { hashAppPassword, newAppPassword } from "../../../../src/features/accounts/app-passwords/secret.ts";

describe("an app password", () => {
  test("has 150 bits: six groups of five from 32 letters, none used more than another", () => {
    const passwords = Array.from({ length: 2_000 }, newAppPassword);
    expect(new Set(passwords).size).toBe(2_000);
    for (const password of passwords) expect(password).toMatch(/^([a-km-np-z2-9]{5}-){5}[a-km-np-z2-9]{5}$/);
    const counts = Object.values(Object.groupBy(passwords.join("").replaceAll("-", ""), (character) => character)).map(
      (characters) => characters?.length ?? 0,
    );
    expect(counts).toHaveLength(32);
    // 60,000 letters: each about 1,875 times. Six standard deviations are 256.
    expect(Math.min(...counts)).toBeGreaterThan(1_600);
    expect(Math.max(...counts)).toBeLessThan(2_150);
  });

  test("has one digest in every spelling, and another password has another", () => {
    const password = newAppPassword();
    const digest = hashAppPassword(password)?.toString("hex");
    expect(digest).toHaveLength(64);
    for (const spelling of [
      password.toUpperCase(),
      password.replaceAll("-", ""),
      `  ${password.replaceAll("-", " - ")}\n`,
    ]) {
      expect(hashAppPassword(spelling)?.toString("hex")).toBe(digest);
    }
    expect(hashAppPassword(newAppPassword())?.toString("hex")).not.toBe(digest);
  });

  test.each([
    ["no text", ""],
    ["too short", "abcde-fghij"],
    ["too long", `${"abcde-".repeat(6)}a`],
    ["letters that are not used", "0".repeat(30)],
    ["letters whose lower case is longer", `${"a".repeat(28)}İ`],
    ["a long text", "a".repeat(10_000)],
  ])("is not %s", (_what, text) => {
    expect(hashAppPassword(text)).toBeUndefined();
  });
});

describe("HTTP Basic", () => {
  const encode = (text: string) => Buffer.from(text).toString("base64");

  test("has a user name up to the first colon, in UTF-8", () => {
    expect(readBasic(`Basic ${encode("a@b.c:x:y")}`)).toEqual({ username: "a@b.c", password: "x:y" });
    expect(readBasic(`basic  ${encode("jürgen@b.c:x")} `)).toEqual({ username: "jürgen@b.c", password: "x" });
    expect(readBasic(`Basic ${encode(":")}`)).toEqual({ username: "", password: "" });
  });

  test.each([
    "",
    "Basic",
    "Basic ",
    "Basic !",
    `Bearer ${encode("a:b")}`,
    `Basic ${encode("ab")}`,
    `Basic ${encode(`a:${"b".repeat(2_000)}`)}`,
  ])("is not %p", (header) => {
    expect(readBasic(header)).toBeUndefined();
  });
});

test.each([
  ["/dav", true],
  ["/dav/", true],
  ["/dav/a", true],
  ["/remote.php/dav/files/a", true],
  ["/ocs/v2.php/cloud/user", true],
  ["/index.php/core/preview.png", true],
  ["/", false],
  ["/davs", false],
  ["/api/dav", false],
  ["/api", false],
  ["/DAV/", false],
  ["//dav/", false],
  ["/s/dav/", false],
])("%s is for programs: %p", (path, isForPrograms) => {
  expect(isClientPath(path)).toBe(isForPrograms);
});
