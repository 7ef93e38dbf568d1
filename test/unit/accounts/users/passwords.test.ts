import { expect, test } from "bun:test";
import { PasswordHasher } from "../../../../src/features/accounts/users/passwords.ts";

test("a password is hashed by argon2id with 19 MiB and two passes, the minimum that OWASP recommends", async () => {
  const passwords = new PasswordHasher();
  const hash = await passwords.hash("correct horse battery");
  expect(hash).toStartWith("$argon2id$v=19$m=19456,t=2,p=1$");
  expect(await passwords.verify("correct horse battery", hash)).toBe(true);
  expect(await passwords.verify("another password", hash)).toBe(false);
});
