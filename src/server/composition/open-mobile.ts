/** Opens uploads, devices, and synchronization with its safeguards. */
import type { Database } from "bun:sqlite";
import { ConflictService } from "../../features/mobile/conflicts/service.ts";
import { DeviceService } from "../../features/mobile/devices/service.ts";
import { DurabilityService } from "../../features/mobile/durability/service.ts";
import { LocalChangeService } from "../../features/mobile/local-changes/service.ts";
import { confirmationRequired, MassChangeGuard } from "../../features/mobile/mass-change/mass-change-guard.ts";
import { HoldService } from "../../features/mobile/mass-change/service.ts";
import { accountUsage } from "../../features/accounts/plans/usage.ts";
import { QueueService } from "../../features/mobile/offline-queue/service.ts";
import { RewindService } from "../../features/mobile/rewind/service.ts";
import { SyncTokens } from "../../features/mobile/sync/cursor.ts";
import { SyncService } from "../../features/mobile/sync/service.ts";
import { TusService } from "../../features/uploads/tus/service.ts";
import { openUploads } from "../../features/uploads/chunked/open.ts";
import { ownerOfSigned } from "../../features/uploads/chunked/routes.ts";
import type { User } from "../../features/accounts/users/types.ts";
import { readEpoch } from "../data/open-copy.ts";
import type { Accounts } from "./open-accounts.ts";
import type { Library } from "./open-library.ts";
import type { Media } from "./open-media.ts";
import type { Messaging } from "./open-messaging.ts";
import type { Storage } from "./open-storage.ts";

/** Builds uploads, devices, and synchronization, in order of dependency. */
export function openMobile(storage: Storage, accounts: Accounts, media: Media, library: Library, messaging: Messaging) {
  const { tree, paths, sqlite, onDetached } = storage;
  const { users, auth, plans, limitsOf } = accounts;
  const { transfers, turns, files } = library;
  const onDeleted = (nodeId: number) => library.access.forget(nodeId);
  const changes = openChanges(storage, accounts, library, onDeleted);
  const devices = new DeviceService({ ...storage, users, auth, plans, pushTokens: messaging.notifications });
  const deviceIdOf = (accountId: number, publicId: string) => devices.getId(accountId, publicId);
  const syncTokens = new SyncTokens(storage.secrets.link.secret, readEpoch(sqlite));
  return {
    ...changes,
    ...openUploading(storage, accounts, media, library, changes.massChangeGuard),
    durability: new DurabilityService({ ...storage, files, snapshotsFolder: paths.snapshots }),
    devices,
    rewinds: new RewindService({ ...storage, limitsOf, turns, onDeleted, deviceIdOf }),
    syncTokens,
    sync: new SyncService({ ...storage, tokens: syncTokens, devices, hurryDeletions: () => onDetached.wake() }),
    /** Counts the uploads in progress of a device, by its row id. */
    pendingUploadsOf: pendingUploads(sqlite),
    usageOf: (user: User) =>
      accountUsage({
        totals: tree.usage(user.id),
        byType: tree.usageByType(user.id),
        transfers: transfers.read(user.id),
        devices: devices.count(user.id),
        plan: plans[user.plan],
        quotaBytes: user.quotaBytes,
      }),
  };
}

/** Builds the services that apply changes of devices, and the guard against mass changes. */
function openChanges(storage: Storage, accounts: Accounts, library: Library, onDeleted: (nodeId: number) => void) {
  const { users, limitsOf } = accounts;
  const { massChangeFiles: filesMax, massChangePercent: percentMax } = storage.config;
  const massChangeGuard = new MassChangeGuard({ ...storage, filesMax, percentMax });
  const dependencies = { ...storage, users, limitsOf, onDeleted, massChangeGuard, access: library.access };
  const conflicts = new ConflictService(dependencies);
  const localChanges = new LocalChangeService({ ...dependencies, conflicts });
  const holds = new HoldService({
    ...storage,
    applyReleased: (accountId, deviceId, changes) => localChanges.applyReleased(accountId, deviceId, changes),
  });
  return { massChangeGuard, conflicts, localChanges, holds, queue: new QueueService(dependencies) };
}

/** Builds chunked uploads and tus uploads, which share a store. */
function openUploading(
  storage: Storage,
  accounts: Accounts,
  media: Media,
  library: Library,
  massChangeGuard: MassChangeGuard,
) {
  const { paths, secrets, tree, blobRows, storeGuard, reservations, uploadsInProgress } = storage;
  const { users, limitsOf, rateGate } = accounts;
  const dependencies = {
    ...storage,
    reserveDisk(bytes: number) {
      storeGuard.check();
      return reservations.reserve(bytes);
    },
    holdDisk: (bytes: number) => reservations.hold(bytes),
    noteReceiving: () => uploadsInProgress.begin(),
  };
  const { uploads, staging, uploadStore } = openUploads({
    ...dependencies,
    directory: paths.uploads,
    transfers: library.transfers,
    thumbnails: media.thumbnailer,
    limitsOf,
    contents: {
      // A file whose blob failed its last check must be uploaded again.
      isStored: (accountId, digest, sizeBytes) =>
        tree.findFileWithContent(accountId, digest)?.sizeBytes === sizeBytes &&
        tree.findBlob(digest)?.damagedAtMs === null,
      wasDeleted: (accountId, digest) => tree.wasDeleted(accountId, digest),
      markWhole: (digest) => blobRows.markDamaged(digest, null),
    },
    admitReplacement: (tx, device, { accountId, ...change }) => {
      const hold = massChangeGuard.admit(tx, device, accountId, [{ action: "update", ...change }]);
      return hold && confirmationRequired(hold);
    },
    findUser: (id) => users.findById(id),
    secret: secrets.link.secret,
  });
  rateGate.setOwnerOfSigned((path, query) => ownerOfSigned(uploads, path, query));
  const tus = new TusService({
    ...dependencies,
    store: uploadStore,
    quotaOf: (owner) => limitsOf(owner).quotaBytes,
    planOf: (owner) => limitsOf(owner).plan,
  });
  return { uploads, tus, staging, uploadStore };
}

/** Counts with the index uploads_open. */
function pendingUploads(sqlite: Database): (deviceId: number) => number {
  const count = sqlite.prepare<{ count: number }, [number]>(
    "SELECT count(*) AS count FROM uploads WHERE device_id = ?1 AND ended_at IS NULL",
  );
  return (deviceId) => count.get(deviceId)?.count ?? 0;
}
