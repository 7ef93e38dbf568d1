// Proof that the owner of an account asks, as the tests give it.
import type { Account, ApiResponse } from "./client.ts";

/** POST /api/auth/confirm with the account's password, whatever it answers. */
export function tryConfirm({ client, password }: Account, extra: Record<string, unknown> = {}): Promise<ApiResponse> {
  return client.post("/api/auth/confirm", { currentPassword: password, ...extra });
}

/** The account, whose session counts as confirmed for ten minutes. */
export async function confirmIdentity<A extends Account>(account: A): Promise<A> {
  const response = await tryConfirm(account);
  if (response.status !== 200) throw new Error(`not confirmed: ${response.status} ${response.text}`);
  return account;
}
