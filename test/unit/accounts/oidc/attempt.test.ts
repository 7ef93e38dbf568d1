import { expect, test } from "bun:test";
import { AttemptSeal, readReturnPath } from "../../../../src/features/accounts/oidc/attempt.ts";
import { ExpiringMap } from "../../../../src/lib/expiring-map.ts";
import type { Attempt } from "../../../../src/features/accounts/oidc/types.ts";
import { TestClock } from "../rate-limits/support.ts";

const attempt: Attempt = {
  state: "s",
  nonce: "n",
  verifier: "v",
  redirectUri: "https://larder.test/api/auth/oidc/callback",
  returnTo: "/docs",
  mode: "cookie",
  challenge: "",
  bySession: null,
  startedAtMs: 0,
  expiresAtMs: 1_000,
};
const seal = new AttemptSeal(new Uint8Array(32).fill(7));

test("a sealed attempt can be opened until it expires", () => {
  const sealed = seal.seal(attempt);
  expect(seal.open(sealed, 999)).toEqual(attempt);
  expect(seal.open(sealed, 1_000)).toBeUndefined();
});

test("an attempt sealed by another server, or modified, is rejected", () => {
  const sealed = seal.seal(attempt);
  expect(new AttemptSeal(new Uint8Array(32)).open(sealed, 0)).toBeUndefined();
  for (let index = 0; index < sealed.length; index += 7) {
    const other = sealed[index] === "A" ? "B" : "A";
    expect(seal.open(sealed.slice(0, index) + other + sealed.slice(index + 1), 0)).toBeUndefined();
  }
  for (const text of ["", "AAAA", "%%%", "A".repeat(10_000)]) expect(seal.open(text, 0)).toBeUndefined();
});

test("a sealed attempt is unreadable and different each time", () => {
  const sealed = Buffer.from(seal.seal(attempt), "base64url").toString("latin1");
  expect(sealed).not.toContain("larder.test");
  expect(seal.seal(attempt)).not.toBe(seal.seal(attempt));
});

test.each(["/", "/docs", "/a/b?c=d#e", "/a%20b", "/?next=https://x.test", "/%2f%2fevil.example"])(
  "%j is a valid return path",
  (path) => {
    expect(readReturnPath(path)).toBe(path);
  },
);

test.each([
  "",
  "docs",
  "//evil.example",
  "/\\evil.example",
  "\\\\evil.example",
  "https://evil.example",
  "javascript:alert(1)",
  "/\t/evil.example",
  "/a\r\nset-cookie: x",
  "/.//evil.example",
  "/a/..//evil.example",
  `/${"a".repeat(1_024)}`,
])("%j is rejected as a return path", (path) => {
  expect(readReturnPath(path)).toBeUndefined();
});

test("a stored value can be taken once, before it expires", () => {
  const clock = new TestClock();
  const values = new ExpiringMap<string>({ clock, lifetimeMs: 100, countMax: 2 });
  values.put("a", "1");
  expect(values.take("a")).toBe("1");
  expect(values.take("a")).toBeUndefined();
  values.put("b", "2");
  clock.ms += 100;
  expect(values.has("b")).toBe(false);
  expect(values.take("b")).toBeUndefined();
  for (const key of ["c", "d", "e"]) values.put(key, key);
  expect(["c", "d", "e"].map((key) => values.has(key))).toEqual([false, true, true]);
});
