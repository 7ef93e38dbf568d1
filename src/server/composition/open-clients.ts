/** Opens WebDAV and the protocol of the Nextcloud and ownCloud clients. */
import { LockService } from "../../features/clients/locks/service.ts";
import { ChangeGuard } from "../../features/clients/webdav/change-guard.ts";
import { ClientTree, type Item } from "../../features/clients/webdav/client-tree.ts";
import { ContentWriter } from "../../features/clients/webdav/content-writer.ts";
import { TreeChanges } from "../../features/clients/webdav/tree-changes.ts";
import type { ReceivedShareService } from "../../features/sharing/received/service.ts";
import type { MassChangeGuard } from "../../features/mobile/mass-change/mass-change-guard.ts";
import { invariant } from "../../lib/invariant.ts";
import type { Accounts } from "./open-accounts.ts";
import type { Library } from "./open-library.ts";
import type { Storage } from "./open-storage.ts";

/** The digits of the number in `oc:id`: the clients read the number from the start of the text. */
const NUMBER_DIGITS = 8;

/** Builds the services behind the addresses for clients, in order of dependency. */
export function openClients(
  storage: Storage,
  accounts: Accounts,
  library: Library,
  {
    receivedShares,
    massChangeGuard,
  }: { readonly receivedShares: ReceivedShareService; readonly massChangeGuard: MassChangeGuard },
) {
  const { config, tree, reservations, storeId } = storage;
  const clientTree = new ClientTree({ tree, users: accounts.users, receivedShares });
  const changeGuard = new ChangeGuard({ ...storage, massChangeGuard });
  const locks = new LockService(storage);
  const suffix = storeId.replace(/[^a-z0-9]/gi, "").slice(0, 12);
  return {
    locks,
    webDav: {
      ...storage,
      ...accounts,
      ...library,
      clientTree,
      changeGuard,
      locks,
      contentWriter: new ContentWriter({
        ...library,
        clientTree,
        changeGuard,
        locks,
        acceptsMacosFiles: config.macosFiles === "accept",
      }),
      treeChanges: new TreeChanges({
        ...storage,
        ...accounts,
        ...library,
        clientTree,
        reserveSpace: (bytes) => reservations.reserve(bytes),
      }),
      etagOf: ({ node }: Item) => {
        if (node.kind === "file") return `"${node.digest}"`;
        const state = tree.folderStates([node.id]).get(node.id);
        invariant(state !== undefined, "a folder in a tree has a state");
        return state.etag;
      },
      clientIdOf: (nodeId: number) => String(nodeId).padStart(NUMBER_DIGITS, "0") + suffix,
    },
  };
}
