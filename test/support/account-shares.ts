// Creates shares between accounts.
import type { Account, Client } from "./client.ts";

/** Settings of a share between accounts. Default: read access without expiry. */
export interface ShareSettings {
  permissions?: "read" | "write";
  label?: string;
  versions?: boolean;
  expiresAt?: string;
}

/** An expiry five seconds from now: still in the future when a slow machine sends it, and soon reached. */
export function soonExpiry(): string {
  return new Date(Date.now() + 5_000).toISOString();
}

/** Waits until that expiry has passed. */
export async function waitForExpiry(expiresAt: string): Promise<void> {
  await Bun.sleep(Math.max(0, Date.parse(expiresAt) - Date.now() + 1));
}

/**
 * Shares a file or folder with another account, which must succeed.
 *
 * @param id of a file or, with the prefix `fold_`, of a folder
 * @param to the recipient's email, with or without an account
 * @returns the id of the share
 */
export async function shareWith(
  owner: Client,
  id: string,
  to: Pick<Account, "email">,
  settings: ShareSettings = {},
): Promise<string> {
  const path = id.startsWith("fold_") ? `/api/files/folders/${id}/shares` : `/api/files/${id}/shares`;
  const response = await owner.post(path, { user: to.email, ...settings });
  if (response.status !== 201) throw new Error(`sharing failed: ${response.status} ${response.text}`);
  return response.string("data.id");
}
