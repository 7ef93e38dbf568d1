import { expect, test } from "bun:test";
import { emailForms, skeletonsToCheck } from "../../../../src/features/accounts/users/email-forms.ts";
import { skeleton } from "../../../../src/lib/skeleton.ts";

const sameSkeleton: [string, string][] = [
  ["ℜ𝘂ᖯʏ", "Ruby"],
  ["Michael", "Michae1"],
  ["⁇", "??"],
  ["раураl", "paypal"],
  ["modern", "rnodern"],
  ["admın", "admin"],
  ["ad\u200dmin\u00ad", "admin"],
  ["e\u0301", "é"],
];

test.each(sameSkeleton)("%s looks like %s", (one, other) => expect(skeleton(one)).toBe(skeleton(other)));

test("other texts don't look alike", () => {
  for (const [one, other] of [
    ["anna", "hanna"],
    ["a", "á"],
    ["о1", "o2"],
  ] as const) {
    expect(skeleton(one)).not.toBe(skeleton(other));
  }
});

test("a skeleton is its own skeleton, for each confusable character", async () => {
  const table = await Bun.file(new URL("../../../../src/lib/confusables.txt", import.meta.url)).text();
  const rows = table.split("\n").filter((line) => line.includes("=") && !line.startsWith("#"));
  const characters = rows.flatMap((row) => (row.split("=")[1] ?? "").split(" "));
  expect(characters.length).toBe(6565);
  for (const character of characters) {
    const once = skeleton(String.fromCodePoint(Number.parseInt(character, 16)));
    expect(skeleton(once)).toBe(once);
  }
});

test("addresses are folded by compatibility and case", () => {
  const { folded } = emailForms("strasse.info@example.com");
  for (const email of ["STRASSE.Info@Example.COM", "straße.info@example.com", "ｓtrasse.ｉnfo@example.com"]) {
    expect(emailForms(email).folded).toBe(folded);
  }
  expect(emailForms("ΟΔΟΣ@example.com").folded).toBe(emailForms("οδος@example.com").folded);
});

test("a capital I looks like an l and an i", () => {
  expect(skeletonsToCheck("paypaI@example.com")).toContain(emailForms("paypal@example.com").skeleton);
  expect(skeletonsToCheck("ADMIN@example.com")).toContain(emailForms("admin@example.com").skeleton);
});
