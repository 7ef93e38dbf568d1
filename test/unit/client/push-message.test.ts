import { describe, expect, test } from "bun:test";
import { readPush } from "../../../src/client/base/push-message.ts";

const pathOf = (data: object) => readPush(JSON.stringify({ title: "x", data })).path;

describe("a push message", () => {
  test("opens the page about its event", () => {
    expect(pathOf({ event: "upload.completed", fileId: "file_1" })).toBe("/files?view=file_1");
    expect(pathOf({ event: "share.received", type: "folder", shareId: "shr_1" })).toBe("/shared/with-me?share=shr_1");
    expect(pathOf({ event: "share.received", type: "file", shareId: "shr_1" })).toBe("/shared/with-me");
    expect(pathOf({ event: "share.received", type: "file", nodeId: "file_1" })).toBe("/shared/with-me?view=file_1");
    expect(pathOf({ event: "share.received", type: "album", nodeId: "alb_1" })).toBe("/albums/alb_1");
    expect(pathOf({ event: "security.credentials_changed" })).toBe("/settings/security");
    expect(pathOf({ event: "security.mass_change" })).toBe("/history?tab=holds");
    expect(pathOf({ event: "storage.warning" })).toBe("/settings/usage");
  });

  test("never opens another address", () => {
    for (const fileId of ["https://evil.example", "../x", "a&b=c", "//evil.example", 7, null, "x".repeat(65)]) {
      expect(pathOf({ event: "upload.completed", fileId, url: "https://evil.example" })).toBe("/files");
    }
    expect(pathOf({ event: { toString: "x" } })).toBe("/files");
  });

  test("is shortened, and replaced by a general text if it can't be read", () => {
    const long = readPush(JSON.stringify({ id: "ntf_1", title: "t".repeat(500), body: "b".repeat(5000) }));
    expect([long.title.length, long.body.length, long.tag]).toEqual([200, 1000, "ntf_1"]);
    for (const payload of [undefined, "", "[]", "null", "7", '{"title":7}', '{"title":" "}', "{"]) {
      expect(readPush(payload)).toEqual({
        title: "Larder",
        body: "You have a new notification.",
        tag: "",
        path: "/files",
      });
    }
  });
});
