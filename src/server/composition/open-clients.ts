/** Opens WebDAV and the protocol of the Nextcloud and ownCloud clients. */
import { clientIds } from "../../features/clients/client-ids.ts";
import { ClientUploadService } from "../../features/clients/chunked-uploads/service.ts";
import { LoginFlowService } from "../../features/clients/login-flow/service.ts";
import { LockService } from "../../features/clients/locks/service.ts";
import { ChangeGuard } from "../../features/clients/webdav/change-guard.ts";
import { ClientTree } from "../../features/clients/webdav/client-tree.ts";
import { ContentWriter } from "../../features/clients/webdav/content-writer.ts";
import { FavoriteItems } from "../../features/clients/webdav/favorite-items.ts";
import { ItemEtags } from "../../features/clients/webdav/item-etags.ts";
import { Listings } from "../../features/clients/webdav/listings.ts";
import { UserTreeWriter } from "../../features/library/permissions/user-tree-writer.ts";
import { TreeChanges } from "../../features/clients/webdav/tree-changes.ts";
import type { User } from "../../features/accounts/users/types.ts";
import type { ReceivedShareService } from "../../features/sharing/received/service.ts";
import type { UploadStore } from "../../features/uploads/chunked/store.ts";
import type { MassChangeGuard } from "../../features/mobile/mass-change/mass-change-guard.ts";
import { readNodeEpochs } from "../../tree/tables/node-epochs.ts";
import { availableBytes } from "../data/filesystem.ts";
import { readClientEpoch } from "../data/open-copy.ts";
import type { Accounts } from "./open-accounts.ts";
import type { Library } from "./open-library.ts";
import type { Media } from "./open-media.ts";
import type { Storage } from "./open-storage.ts";

/** Builds the services behind the addresses for clients, in order of dependency. */
export function openClients(
  storage: Storage,
  accounts: Accounts,
  media: Media,
  library: Library,
  {
    receivedShares,
    massChangeGuard,
    uploadStore,
  }: {
    readonly receivedShares: ReceivedShareService;
    readonly massChangeGuard: MassChangeGuard;
    readonly uploadStore: UploadStore;
  },
) {
  const { config, tree, reservations, storeId, paths } = storage;
  const clientTree = new ClientTree({ ...accounts, tree, receivedShares });
  const context = { ...storage, ...library, clientTree };
  const changeGuard = new ChangeGuard({ ...storage, massChangeGuard });
  const locks = new LockService(storage);
  const clientIdOf = clientIds(storeId, readNodeEpochs(storage.sqlite));
  const etags = new ItemEtags({ ...storage, clientTree });
  const dataFingerprint = fingerprintOf(readClientEpoch(storage.sqlite));
  const storageOf = (user: User) => ({
    usedBytes: tree.usage(user.id).usedBytes,
    quotaBytes: accounts.limitsOf(user).quotaBytes,
    diskFreeBytes: Math.max(0, availableBytes(paths.blobs) - reservations.floorBytes),
  });
  return {
    locks,
    loginFlows: new LoginFlowService({ ...storage, ...accounts }),
    clientUploads: openUploads(storage, accounts, uploadStore),
    storageOf,
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
      etags,
      etagOf: etags.of.bind(etags),
      listings: new Listings({
        ...context,
        etags,
        storageOf,
        clientIdOf,
        dataFingerprint,
        hasPreview: media.canThumbnail,
      }),
      favoriteItems: new FavoriteItems(context),
      clientIdOf,
      userTreeWriter: new UserTreeWriter(storage.treeWriter, (owner) => accounts.limitsOf(owner).plan),
    },
  };
}

function fingerprintOf(epoch: string): string {
  return epoch === "" ? "" : Bun.hash(epoch).toString(36);
}

function openUploads(storage: Storage, accounts: Accounts, store: UploadStore): ClientUploadService {
  const { storeGuard, reservations, uploadsInProgress } = storage;
  return new ClientUploadService({
    ...storage,
    ...accounts,
    store,
    reserveDisk: (bytes) => {
      storeGuard.check();
      return reservations.reserve(bytes);
    },
    noteReceiving: () => uploadsInProgress.begin(),
  });
}
