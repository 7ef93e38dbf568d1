import { describe, expect, test } from "bun:test";
import { kindOf, usageByKind } from "../../../src/client/features/settings/file-kinds.ts";
import { agentName } from "../../../src/client/base/user-agent.ts";
import { safeNext } from "../../../src/web/next-address.ts";
import { readRejection, PageError } from "../../../src/client/api/rejection.ts";
import { inviteCodeOf } from "../../../src/client/features/sign-up/invite-code.ts";
import { strengthOf } from "../../../src/client/base/password-strength.ts";
import { ApiError } from "../../../src/client/api/http.ts";

describe("the address after a sign-in", () => {
  test.each(["/files", "/files/a%20b/c?view=1#x", "/search?q=https://a.example/", "/settings/security"])(
    "%s is an internal path",
    (next) => {
      expect(safeNext(next)).toBe(next);
    },
  );
  test.each([
    undefined,
    "",
    "files",
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "https://evil.example/files",
    "javascript:alert(1)",
    "/./\\evil.example",
    "/..//evil.example",
    "/%0d%0a/../\u0000",
    "/sign-in?next=/files",
    "/sign-up",
  ])("%p is not, or is the sign-in page", (next) => {
    expect(safeNext(next)).toBe("/");
  });
});

test.each([
  ["abc_DEF-1", "abc_DEF-1"],
  ["  abc ", "abc"],
  ["https://files.example.org/larder/invite?token=abc", "abc"],
  ["https://files.example.org/invite?x=1&token=abc#end", "abc"],
  ["https://files.example.org/invite?other=1", ""],
])("the invitation code in %p is %p", (pasted, code) => {
  expect(inviteCodeOf(pasted)).toBe(code);
});

test.each([
  ["", 0],
  ["short", 1],
  ["aaaaaaaaaaaaaaaaaaaa", 1],
  ["hunter2!", 2],
  ["two words ok", 3],
  ["correct horse battery", 4],
  ["🐴🔋📎🦉🌵🍋🎈🚲", 2],
] as const)("the password %p has the strength %p", (password, strength) => {
  expect(strengthOf(password)).toBe(strength);
});

test.each([
  ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"],
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0",
    "Edge on Windows",
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1",
    "Safari on iPhone",
  ],
  [
    "Mozilla/5.0 (Linux; Android 16; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Mobile Safari/537.36",
    "Chrome on Android",
  ],
  ["curl/8.14.1", "curl"],
  [
    "Mozilla/5.0 (Linux) mirall/3.7.3git (Nextcloud, debian-6.1.0 ClientArchitecture: x86_64)",
    "Nextcloud desktop client on Linux",
  ],
  ["Mozilla/5.0 (Windows) mirall/2.11.0 (build 8354)", "ownCloud desktop client on Windows"],
  ["Mozilla/5.0 (Android) Nextcloud-android/3.29.0", "Nextcloud app on Android"],
  ["Microsoft-WebDAV-MiniRedir/10.0.19045", "Windows Explorer"],
  ["WebDAVFS/3.0.0 (03008000) Darwin/24.5.0 (arm64)", "Finder"],
  ["rclone/v1.60.1-DEV", "rclone"],
  ["Mozilla/5.0 (X11; Linux x86_64) KIO/5.103 kioclient/5.27.5", "KDE on Linux"],
  ["VLC/3.0.24 LibVLC/3.0.24", "VLC"],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 obsidian/1.5.3 Chrome/114.0.5735.289 Electron/25.8.4 Safari/537.36",
    "Obsidian on macOS",
  ],
  ["something/1.0", "Unknown program"],
  [null, "Unknown program"],
])("%p is called %p", (userAgent, name) => {
  expect(agentName(userAgent)).toBe(name);
});

describe("the rejection of a form", () => {
  const apiError = (details: Record<string, unknown>) =>
    new ApiError("The server's words.", { status: 400, code: "VALIDATION_ERROR", details });

  test("is shown at the field that the server names, if the form has it", () => {
    expect(readRejection(apiError({ field: "email" }), ["email"])).toEqual({
      field: "email",
      message: "The server's words.",
    });
    expect(readRejection(apiError({ field: "other" }), ["email"])?.field).toBeUndefined();
  });
  test("is shown at the field of the reason, with the form's own message", () => {
    const byReason = { bad_credentials: { field: "password", message: "Not yours." } } as const;
    expect(readRejection(apiError({ reason: "bad_credentials" }), ["password"], byReason)).toEqual({
      field: "password",
      message: "Not yours.",
    });
  });
  test("shows errors of the page itself", () => {
    expect(readRejection(new PageError("No passkey."), [])).toEqual({ field: undefined, message: "No passkey." });
    expect(readRejection(null, [])).toBeUndefined();
  });
});

test("media types are summed up by kind, largest first", () => {
  expect(
    usageByKind([
      { type: "application/pdf", files: 1, bytes: 10 },
      { type: "image/png", files: 2, bytes: 30 },
      { type: "image/jpeg", files: 3, bytes: 5 },
      { type: "application/zip", files: 1, bytes: 1 },
    ]),
  ).toEqual([
    { kind: "image", files: 5, bytes: 35 },
    { kind: "document", files: 1, bytes: 10 },
    { kind: "archive", files: 1, bytes: 1 },
  ]);
  expect(kindOf("application/octet-stream")).toBe("other");
});
