import { expect, test } from "bun:test";
import { safeName } from "../../../../src/features/library/archive/entry-name.ts";

test("unsafe characters are replaced by _", () => {
  const cases: Record<string, string> = {
    "..": "__",
    ".": "_",
    "": "_",
    "/etc/passwd": "_etc_passwd",
    "..\\..\\evil.exe": ".._.._evil.exe",
    "C:\\windows": "C__windows",
    "a.txt:stream": "a.txt_stream",
    "a\u0000b\u001bc\u0085d": "a_b_c_d",
    con: "_con",
    "AUX.txt": "_AUX.txt",
    "com1 .log": "_com1 .log",
    "LPT¹": "_LPT¹",
    "dots...": "dots___",
    "blanks . ": "blanks___",
    "\ud800lone": "\ufffdlone",
  };
  for (const [name, safe] of Object.entries(cases)) expect(safeName(name)).toBe(safe);
});

test("all other names stay unchanged", () => {
  for (const name of [
    ".profile",
    "console.log",
    "a..b",
    "größe?.txt",
    "日本語",
    "com10",
    "null",
    " leading",
    "aux_1.txt",
  ]) {
    expect(safeName(name)).toBe(name);
  }
});
