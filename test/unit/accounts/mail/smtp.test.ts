import { expect, test } from "bun:test";
import { openSmtp, outcomeOf } from "../../../../src/features/accounts/mail/smtp.ts";

const failure = (code: string, response?: string) =>
  Object.assign(new Error("as the library says it"), {
    code,
    ...(response !== undefined && { response, responseCode: Number.parseInt(response, 10) }),
  });

test.each([
  ["EENVELOPE", "550 5.1.1 <ann@example.test> is unknown", "refused", "EENVELOPE 550 5.1.1"],
  ["EENVELOPE", "450-4.2.0 greylisted", "retry", "EENVELOPE 450 4.2.0"],
  ["EMESSAGE", "554 looks like spam", "refused", "EMESSAGE 554"],
  ["EMESSAGE", "451 try later", "retry", "EMESSAGE 451"],
  ["EENVELOPE", "530 5.7.0 sign in first", "unreachable", "EENVELOPE 530 5.7.0"],
  ["EENVELOPE", "421 going down", "unreachable", "EENVELOPE 421"],
  ["EENVELOPE", undefined, "refused", "EENVELOPE"],
  ["EAUTH", "535 5.7.8 wrong", "unreachable", "EAUTH 535 5.7.8"],
  ["ETLS", "500 what?", "unreachable", "ETLS 500"],
  ["ECONNECTION", undefined, "unreachable", "ECONNECTION"],
  ["ESOCKET", undefined, "unreachable", "ESOCKET"],
])("%s with the response %j is %s", (code, response, state, why) => {
  expect(outcomeOf(failure(code, response))).toEqual({ state, why } as never);
});

test("errors of other libraries reveal nothing", () => {
  expect(outcomeOf("secret")).toEqual({ state: "unreachable", why: "unknown cause" });
});

const mail = {
  host: "mail.example.test",
  port: 0,
  secure: "none" as const,
  user: "larder",
  password: "secret",
  passwordFile: null,
  caFile: null,
  from: "larder@example.test",
  verify: false,
};
const publicUrl = "https://files.example.test";

test("a password is never sent over a network in plain text", () => {
  for (const host of ["mail.example.test", "192.168.1.2", "8.8.8.8", "localhost.example"]) {
    expect(() => openSmtp({ mail: { ...mail, host }, publicUrl })).toThrow("unencrypted");
  }
  for (const host of ["localhost", "127.0.0.1", "127.9.9.9", "::1"]) {
    expect(openSmtp({ mail: { ...mail, host }, publicUrl })).toBeDefined();
  }
  expect(openSmtp({ mail: { ...mail, secure: "starttls" }, publicUrl })).toBeDefined();
  expect(openSmtp({ mail: { ...mail, user: null, password: null }, publicUrl })).toBeDefined();
});

test("without settings there is no transport", () => {
  expect(openSmtp({ mail: { ...mail, host: null, from: null }, publicUrl: null })).toBeUndefined();
});
