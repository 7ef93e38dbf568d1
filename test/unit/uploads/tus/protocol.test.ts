import { describe, expect, test } from "bun:test";
import {
  PARTS_MAX,
  readBytes,
  readChecksum,
  readConcatenation,
  readDeferral,
} from "../../../../src/features/uploads/tus/protocol.ts";

function of(name: string, value: string): Headers {
  return new Headers({ [name]: value });
}

describe("the headers of tus", () => {
  test("lengths are whole numbers that JavaScript represents exactly", () => {
    expect(readBytes(new Headers(), "Upload-Length")).toBeUndefined();
    expect(readBytes(of("Upload-Length", "0"), "Upload-Length")).toBe(0);
    expect(readBytes(of("Upload-Length", "999999999999999"), "Upload-Length")).toBe(999_999_999_999_999);
    for (const text of ["-1", "+1", "1.0", "0x1", "1e3", "Infinity", "NaN", "1 2", "1,2", "9".repeat(16), ""])
      expect(() => readBytes(of("Upload-Offset", text), "Upload-Offset")).toThrow("Upload-Offset must be");
    expect(readDeferral(of("Upload-Defer-Length", "1"))).toBe(true);
    expect(() => readDeferral(of("Upload-Defer-Length", "0"))).toThrow("must be 1");
  });

  test("a checksum has the length of its algorithm", () => {
    const sha1 = Buffer.alloc(20, 7).toString("base64");
    expect(readChecksum(of("Upload-Checksum", `SHA1 ${sha1}`))).toEqual({ algorithm: "sha1", digest: "07".repeat(20) });
    expect(readChecksum(new Headers())).toBeUndefined();
    for (const text of [`sha256 ${sha1}`, "sha1", `crc32 ${sha1}`, `sha1 ${sha1} x`, `sha1 ${sha1.slice(0, -1)}`])
      expect(() => readChecksum(of("Upload-Checksum", text))).toThrow();
  });

  test("parts are identified by the last segment of their URLs", () => {
    expect(readConcatenation(new Headers())).toEqual({ kind: "whole", parts: [] });
    expect(readConcatenation(of("Upload-Concat", "partial"))).toEqual({ kind: "partial", parts: [] });
    const list = "final;https://nas.local/base/api/tus/tus_a /api/tus/tus_b/  tus_c?x=1";
    expect(readConcatenation(of("Upload-Concat", list))).toEqual({ kind: "final", parts: ["tus_a", "tus_b", "tus_c"] });
    const many = Array.from({ length: PARTS_MAX + 1 }, (_, index) => `/tus_${index}`).join(" ");
    for (const text of ["final", "final;", "Partial", "final;/a /a", "final;/", `final;${many}`])
      expect(() => readConcatenation(of("Upload-Concat", text))).toThrow();
  });
});
