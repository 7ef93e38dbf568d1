// Proof that the owner of an account asks, as the tests give it.
import type { Account, Answer } from "./client.ts";

/** POST /api/auth/confirm with the account's password, whatever it answers. */
export function tryConfirm({ client, password }: Account, extra: Record<string, unknown> = {}): Promise<Answer> {
  return client.post("/api/auth/confirm", { currentPassword: password, ...extra });
}

/** The account, whose session counts as confirmed for ten minutes. */
export async function confirmed<A extends Account>(account: A): Promise<A> {
  const answer = await tryConfirm(account);
  if (answer.status !== 200) throw new Error(`not confirmed: ${answer.status} ${answer.text}`);
  return account;
}
