/** What is on a Nextcloud and is not imported. */
import { type LeftOut, SourceError } from "../../source.ts";
import { JsonFields } from "../server/json-fields.ts";
import type { ServerClient } from "../server/server-client.ts";
import type { NextcloudAccount } from "./find-folder.ts";
import { listFolder } from "./list-folder.ts";
import { say } from "../../../../../translations/say.ts";

const SHARES_PATH = "ocs/v2.php/apps/files_sharing/api/v1/shares";
/** Shared files and folders that are named in the report. */
const NAMED_MAX = 1_000;

/** Lists shares, the trash, and versions, as far as that takes few requests. */
export async function* listLeftOut(
  client: ServerClient,
  account: NextcloudAccount,
  signal: AbortSignal,
): AsyncGenerator<LeftOut> {
  yield* (await ifOffered(() => listShares(client, account.root, signal))) ?? [];
  const trashed = await ifOffered(() => countTrash(client, account, signal));
  if (trashed !== undefined && trashed > 0) {
    const message = say`Files and folders in the trash are not imported. Restore there what you need.`;
    yield { name: "Trash", reason: "trashed", count: trashed, message };
  }
  const message = say`Earlier versions of files are not imported, only the current ones.`;
  yield { name: "Earlier versions", reason: "unsupported", message };
}

/** Undefined if the server doesn't offer it. */
async function ifOffered<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof SourceError && !error.isTemporary) return undefined;
    throw error;
  }
}

async function listShares(client: ServerClient, root: URL, signal: AbortSignal): Promise<LeftOut[]> {
  const endpoint = `/${SHARES_PATH}`;
  const headers = { "OCS-APIRequest": "true" };
  const response = await client.readJson(new URL(`${SHARES_PATH}?format=json`, root), endpoint, { headers, signal });
  const counts = new Map<string, number>();
  for (const share of new JsonFields(response, endpoint).object("ocs").objects("data")) {
    const path = share.optionalString("path") ?? "A share without a path";
    counts.set(path, (counts.get(path) ?? 0) + 1);
  }
  const message = say`It is shared with others. The share is not imported: share it again in Larder.`;
  const shares = [...counts].map(([name, count]): LeftOut => ({ name, reason: "unsupported", count, message }));
  if (shares.length <= NAMED_MAX) return shares;
  const rest: LeftOut = {
    name: "More shared files and folders",
    reason: "unsupported",
    count: shares.length - NAMED_MAX,
    message,
  };
  return [...shares.slice(0, NAMED_MAX), rest];
}

async function countTrash(client: ServerClient, account: NextcloudAccount, signal: AbortSignal): Promise<number> {
  const url = new URL(`remote.php/dav/trashbin/${encodeURIComponent(account.userId)}/trash/`, account.root);
  const { members } = await listFolder(client, url, signal);
  return members.length;
}
