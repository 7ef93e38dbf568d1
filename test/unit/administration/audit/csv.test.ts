import { expect, test } from "bun:test";
import { CSV_HEADING, presentActivity, presentCsvLine } from "../../../../src/features/administration/audit/present.ts";
import type { AuditRow } from "../../../../src/features/administration/audit/types.ts";

const row: AuditRow = {
  id: 7,
  at: 0,
  userId: null,
  email: "a@example.com",
  via: "none",
  viaName: null,
  action: "sign_in",
  subjectId: null,
  subjectEmail: null,
  targetType: null,
  targetId: null,
  outcome: "refused",
  reason: "bad_credentials",
  clientAddress: "192.0.2.1",
  userAgent: null,
  times: 1,
  details: "{}",
};

test("a line has as many fields as the heading", () => {
  expect(CSV_HEADING.split(",")).toHaveLength(17);
  expect(presentCsvLine(row)).toBe(
    "aud_000000000007,1970-01-01T00:00:00.000Z,,a@example.com,none,,sign_in,refused,bad_credentials,,,,,192.0.2.1,,1,{}\r\n",
  );
});

test.each(["=1+1", "+1", "-1", "@x", "\t=1", "\r=1"])("%j is not read as a formula", (email) => {
  const field = presentCsvLine({ ...row, email }).split(",")[3] ?? "";
  expect(field.replace(/^"/, "")).toStartWith("'");
});

test("commas, quotes and line breaks stay in their field", () => {
  expect(presentCsvLine({ ...row, userAgent: 'a,"b"\r\nc' })).toContain(',"a,""b""\r\nc",');
});

test("users don't see the address and name of an administrator who changed their account", () => {
  const done = { ...row, userId: "usr_admin", email: "root@example.com", userAgent: "Browser", viaName: "Phone" };
  const shown = presentActivity(done, "usr_me");
  expect(shown).toMatchObject({ by: "administrator", clientAddress: null, userAgent: null, via: { name: null } });
  expect(JSON.stringify(shown)).not.toContain("root@");
  expect(presentActivity({ ...done, userId: "usr_me" }, "usr_me")).toMatchObject({
    by: "you",
    clientAddress: "192.0.2.1",
  });
  expect(presentActivity(row, "usr_me")).toMatchObject({ by: "unknown", clientAddress: "192.0.2.1" });
});
