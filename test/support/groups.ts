// Creates groups, and shares items with them.
import type { Account, Client } from "./client.ts";
import { confirmIdentity } from "./confirm-identity.ts";
import { expectStatus } from "./expect.ts";

/** Makes a group with members. @param admin an administrator, whose session is then confirmed @returns its id */
export async function makeGroup(admin: Account, name: string, members: readonly Account[] = []): Promise<string> {
  await confirmIdentity(admin);
  const made = await admin.client.post("/api/admin/groups", { name });
  expectStatus(made, 201);
  const id = made.string("data.id");
  for (const member of members) await join(admin, id, member);
  return id;
}

/** Adds a member. */
export async function join(admin: Account, group: string, member: Pick<Account, "id">): Promise<void> {
  expectStatus(await admin.client.put(`/api/admin/groups/${group}/members/${member.id}`, {}), 200);
}

/** Removes a member. */
export async function expel(admin: Account, group: string, member: Pick<Account, "id">): Promise<void> {
  expectStatus(await admin.client.delete(`/api/admin/groups/${group}/members/${member.id}`), 200);
}

/** Shares a folder, file or album with a group. @returns the id of the share */
export async function shareWithGroup(
  owner: Client,
  id: string,
  group: string,
  settings: Record<string, unknown> = {},
): Promise<string> {
  const response = await owner.post(`${pathOf(id)}/shares`, { groups: [group], ...settings });
  expectStatus(response, 201);
  return response.string("data.shares.0.id");
}

/** The address of a file, folder or album. */
export function pathOf(id: string): string {
  if (id.startsWith("fold_")) return `/api/files/folders/${id}`;
  return id.startsWith("albm_") ? `/api/albums/${id}` : `/api/files/${id}`;
}
