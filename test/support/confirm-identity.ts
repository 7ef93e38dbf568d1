// Confirms the identity of an account's owner, as sensitive requests require.
import type { Account, ApiResponse } from "./client.ts";

/** Sends POST /api/auth/confirm with the account's password. Returns the response with any status. */
export function tryConfirm({ client, password }: Account, extra: Record<string, unknown> = {}): Promise<ApiResponse> {
  return client.post("/api/auth/confirm", { currentPassword: password, ...extra });
}

/** Confirms the account's session, which then counts as confirmed for ten minutes. Returns the account. */
export async function confirmIdentity<A extends Account>(account: A): Promise<A> {
  const response = await tryConfirm(account);
  if (response.status !== 200) throw new Error(`not confirmed: ${response.status} ${response.text}`);
  return account;
}
