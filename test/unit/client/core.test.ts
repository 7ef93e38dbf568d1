// The basics of all pages: text, numbers, addresses, shortcuts, and retries.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ApiError, isSessionLost, messageOf, OfflineError, readError } from "../../../src/client/api/http.ts";
import { isRetried, retryDelayMs } from "../../../src/client/api/query-client.ts";
import { folderAddress, ownAddress } from "../../../src/client/base/address.ts";
import { chooseLanguage } from "../../../src/translations/choose-language.ts";
import { isAt } from "../../../src/client/app/navigation.ts";
import { formatTextSearch, parseTextSearch, textSearch } from "../../../src/client/base/search-params.ts";
import { isPressed, keyCaps } from "../../../src/client/base/shortcuts.ts";
import { defineText, setTranslation } from "../../../src/client/base/text.ts";
import { transform } from "../../../src/translations/pseudo.ts";
import { initialsOf } from "../../../src/client/ui/avatar.tsx";
import { formatBytes, formatDuration, formatRelative } from "../../../src/client/base/format.ts";

// What these parts read from the document: its language and the base path.
const shell = { documentElement: { lang: "en" }, querySelector: () => ({ dataset: { basePath: "/larder/" } }) };
const before = Reflect.getOwnPropertyDescriptor(globalThis, "document");
beforeAll(() => void Object.defineProperty(globalThis, "document", { value: shell, configurable: true }));
afterAll(() => {
  if (before === undefined) Reflect.deleteProperty(globalThis, "document");
  else Object.defineProperty(globalThis, "document", before);
});

describe("sizes and times", () => {
  test.each([
    [0, "0 bytes"],
    [1, "1 byte"],
    [1023, "1,023 bytes"],
    [1024, "1 KB"],
    [1_572_864, "1.5 MB"],
    [1024 ** 2 - 1, "1 MB"],
    [250 * 1024 ** 3, "250 GB"],
    [Number.MAX_SAFE_INTEGER, "8 PB"],
  ])("%p bytes are %p", (bytes, words) => {
    expect(formatBytes(bytes)).toBe(words);
  });

  test("a duration is formatted as in media players", () => {
    expect([0, 7.4, 62, 3723].map(formatDuration)).toEqual(["0:00", "0:07", "1:02", "1:02:03"]);
  });

  test("a time is formatted relative to now; invalid text is unchanged", () => {
    const now = Date.parse("2026-01-02T00:00:00Z");
    expect(formatRelative("2026-01-01T21:00:00Z", now)).toBe("3 hours ago");
    expect(formatRelative("2026-01-03T00:00:00Z", now)).toBe("tomorrow");
    expect(formatRelative("2026-01-01T23:59:50Z", now)).toBe("now");
    expect(formatRelative("soon", now)).toBe("soon");
    // A week was "in 6 days" as soon as a second of it was over.
    expect(formatRelative("2026-01-08T23:59:58Z", now)).toBe("in 7 days");
    expect(formatRelative("2025-12-26T00:00:02Z", now)).toBe("6 days ago");
  });
});

describe("text", () => {
  const words = defineText("test-feature", {
    title: "Files",
    count: "{n, plural, one {# file} other {# files}}",
    kinds: { file: "File", folder: "Folder" },
    actions: { add: "{who} added a file" },
  });
  test("has plural forms", () => {
    expect([0, 1, 1234].map((n) => words.count({ n }))).toEqual(["0 files", "1 file", "1,234 files"]);
  });

  test("has names by key, and the key or another text if there is none", () => {
    expect([words.kinds("file"), words.kinds("album"), words.kinds("album", "?")]).toEqual(["File", "album", "?"]);
    expect(words.kinds("constructor")).toBe("constructor");
    expect(words.actions("add", { who: "Ada" })).toBe("Ada added a file");
    expect(words.actions("take", { who: "Ada" }, "unknown")).toBe("unknown");
  });

  test("uses the translation where there is one, and English elsewhere", () => {
    setTranslation({ default: { "test-feature": { title: "Dateien" } } });
    expect([words.title, words.count({ n: 2 })]).toEqual(["Dateien", "2 files"]);
    setTranslation({ default: {}, transform });
    expect([words.title, words.count({ n: 2 })]).toEqual(["[Fílés]", "[2 fílés]"]);
    setTranslation({ default: {} });
    expect(words.title).toBe("Files");
  });

  test("uses the first preferred language that is available", () => {
    const available = ["de", "pt-BR", "ar-XB"];
    expect(chooseLanguage(["fr-FR", "de-AT", "en"], available)).toBe("de");
    expect(chooseLanguage(["pt-br"], available)).toBe("pt-BR");
    expect(chooseLanguage(["en-GB", "de"], available)).toBe("en");
    expect(chooseLanguage(["ar-EG"], available)).toBe("en");
    expect(chooseLanguage([], available)).toBe("en");
  });
});

describe("addresses", () => {
  test("of folders have each name encoded", () => {
    expect(folderAddress("/")).toBe("/files");
    expect(folderAddress("/Fotos 2024/50% & mehr/#1?")).toBe("/files/Fotos%202024/50%25%20%26%20mehr/%231%3F");
  });

  test("of the API are rewritten below the base path of this page", () => {
    expect(ownAddress("https://files.example/larder/api/files/f_1/download?thumbnail=true")).toBe(
      "/larder/api/files/f_1/download?thumbnail=true",
    );
  });

  test("keep their parameters as text", () => {
    const search = { q: "007", tag: "a&b=c", none: undefined, empty: "" };
    expect(formatTextSearch(search)).toBe("?q=007&tag=a%26b%3Dc");
    expect(parseTextSearch(formatTextSearch(search))).toEqual({ q: "007", tag: "a&b=c" });
    expect(textSearch({ page: 2, on: true, list: ["x"] })).toEqual({ page: "2", on: "true" });
  });

  test("match a page and everything below it", () => {
    expect([isAt("/files", "/files"), isAt("/files/a", "/files"), isAt("/filesystem", "/files")]).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe("shortcuts", () => {
  const key = (name: string, modifiers: Partial<Record<"ctrlKey" | "shiftKey" | "altKey", boolean>> = {}) => {
    const event = { key: name, ctrlKey: false, shiftKey: false, altKey: false, metaKey: false, ...modifiers };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is read of it is there
    return event as unknown as KeyboardEvent;
  };

  test("match with their modifiers", () => {
    expect(isPressed(key("k", { ctrlKey: true }), "/ mod+k")).toBe(true);
    expect(isPressed(key("k"), "mod+k")).toBe(false);
    expect(isPressed(key("Delete", { shiftKey: true }), "delete")).toBe(false);
    expect(isPressed(key(" "), "space")).toBe(true);
  });

  test("with symbols match on every keyboard layout", () => {
    expect(isPressed(key("?", { shiftKey: true }), "?")).toBe(true);
    expect(isPressed(key("/", { shiftKey: true }), "/")).toBe(true);
  });

  test("have names for their keys", () => {
    expect(keyCaps("mod+shift+k")).toEqual(["Ctrl", "Shift", "K"]);
    expect(keyCaps("f2")).toEqual(["F2"]);
  });
});

describe("failures", () => {
  const apiError = (status: number, retryAfterSeconds?: number) =>
    new ApiError("no", { status, code: "X", retryAfterSeconds });

  test("are retried where that may help, and never if the server rejected the request", () => {
    expect(isRetried(0, new OfflineError("gone"))).toBe(true);
    expect(isRetried(4, new OfflineError("gone"))).toBe(false);
    expect(isRetried(0, apiError(503))).toBe(true);
    expect([400, 401, 403, 404, 409, 500].map((status) => isRetried(0, apiError(status)))).not.toContain(true);
    expect(isRetried(0, apiError(429, 5))).toBe(true);
    expect(isRetried(0, apiError(429, 3600))).toBe(false);
    expect(isRetried(0, new TypeError("ours"))).toBe(false);
  });

  test("wait as long as the server asks, otherwise longer each time", () => {
    expect(retryDelayMs(0, apiError(429, 7))).toBe(7000);
    expect([0, 1, 2, 9].map((attempt) => retryDelayMs(attempt, apiError(503)))).toEqual([1000, 2000, 4000, 30_000]);
  });

  test("show the message of the server", async () => {
    const body = {
      success: false,
      error: { code: "VALIDATION_ERROR", message: "Taken.", details: { reason: "name_taken" } },
    };
    const busy = { success: false, error: { code: "X", message: "Wait.", details: { reason: "r", retryAfter: 7 } } };
    expect((await readError(Response.json(busy, { status: 503 }))).retryAfterSeconds).toBe(7);
    const error = await readError(Response.json(body, { status: 409, headers: { "retry-after": "3" } }));
    expect([error.status, error.reason, error.retryAfterSeconds, messageOf(error)]).toEqual([
      409,
      "name_taken",
      3,
      "Taken.",
    ]);
  });

  test("have a message even if a proxy sent the response", async () => {
    const page = await readError(new Response("<html>Request Entity Too Large</html>", { status: 413 }));
    expect(messageOf(page)).toContain("proxy");
    const timeout = await readError(new Response("<html>", { status: 524 }));
    expect(messageOf(timeout)).toContain("isn't responding");
    expect(messageOf(new OfflineError("x"))).toContain("Can't reach the server");
    expect(messageOf("anything")).toContain("Reload");
  });

  test("distinguish an ended session from a wrong password", () => {
    const refused = (reason: string) => new ApiError("no", { status: 401, code: "X", details: { reason } });
    expect(isSessionLost(refused("expired_token"), "/api/files")).toBe(true);
    expect(isSessionLost(refused("bad_credentials"), "/api/users/profile")).toBe(false);
    expect(isSessionLost(refused("missing_token"), "/api/auth/session")).toBe(false);
  });
});

test("the initials of a name", () => {
  expect(["Ada King Lovelace", "ada@example.org", "", "Ærø"].map(initialsOf)).toEqual(["AL", "A", "", "Æ"]);
});
