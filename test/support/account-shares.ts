// Shares between accounts, as tests make them.
import type { Account, Client } from "./client.ts";

/** What a share between accounts is like; read and without end by default. */
export interface ShareSettings {
  permissions?: "read" | "write";
  label?: string;
  versions?: boolean;
  expiresAt?: string;
}

/** An end that a share may still be given, however slow the machine, and that is soon there. */
export function soonExpiry(): string {
  return new Date(Date.now() + 5_000).toISOString();
}

/** Resolves when that end has come. */
export async function waitForExpiry(expiresAt: string): Promise<void> {
  await Bun.sleep(Math.max(0, Date.parse(expiresAt) - Date.now() + 1));
}

/**
 * Shares a file or folder with another account, which must succeed.
 *
 * @param id its prefix tells whether it is a folder
 * @param to the account, or an e-mail that may have none
 * @returns the share's id
 */
export async function shareWith(
  owner: Client,
  id: string,
  to: Pick<Account, "email">,
  given: ShareSettings = {},
): Promise<string> {
  const path = id.startsWith("fold_") ? `/api/files/folders/${id}/shares` : `/api/files/${id}/shares`;
  const response = await owner.post(path, { user: to.email, ...given });
  if (response.status !== 201) throw new Error(`share refused: ${response.status} ${response.text}`);
  return response.string("data.id");
}
