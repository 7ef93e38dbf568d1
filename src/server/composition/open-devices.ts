/** Phones and other devices: uploads in chunks, synchronisation, and what keeps them from doing harm. */
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
import type { Contents } from "./open-contents.ts";
import type { Messages } from "./open-messages.ts";
import type { People } from "./open-people.ts";
import type { Storage } from "./open-storage.ts";

/** Builds the services of this part, in order of dependency. */
export function openDevices(storage: Storage, people: People, contents: Contents, messages: Messages) {
  const { config, log, clock, paths, secrets, db, sqlite, writer, reader, events, blobs, blobRows } = storage;
  const { storeGuard, tree, treeWriter, trials, idempotency, reservations, arrivals, onDetached } = storage;
  const { users, auth, plans, limitsOf, rateGate } = people;
  const { files, access, transfers, thumbnailer, turns } = contents;
  const { notifications } = messages;

  const massChangeGuard = new MassChangeGuard({
    sqlite,
    clock,
    events,
    tree,
    filesMax: config.massChangeFiles,
    percentMax: config.massChangePercent,
  });
  const onDeleted = (nodeId: number) => access.forget(nodeId);
  const conflicts = new ConflictService({
    sqlite,
    writer,
    clock,
    tree,
    treeWriter,
    limitsOf,
    onDeleted,
    massChangeGuard,
  });
  const syncTokens = new SyncTokens(secrets.link.secret, readEpoch(sqlite));
  const localChanges = new LocalChangeService({
    sqlite,
    reader,
    writer,
    clock,
    tree,
    treeWriter,
    users,
    conflicts,
    massChangeGuard,
    limitsOf,
    onDeleted,
  });
  const holds = new HoldService({
    sqlite,
    writer,
    clock,
    applyReleased: (accountId, deviceId, changes) => localChanges.applyReleased(accountId, deviceId, changes),
  });

  const durability = new DurabilityService({
    tree,
    blobs,
    blobRows,
    files,
    snapshotsFolder: paths.snapshots,
    log,
  });
  const queue = new QueueService({
    sqlite,
    writer,
    clock,
    log,
    tree,
    treeWriter,
    users,
    access,
    massChangeGuard,
  });

  const reserveDisk = (bytes: number) => {
    storeGuard.check();
    return reservations.reserve(bytes);
  };
  const holdDisk = (bytes: number) => reservations.hold(bytes);
  const noteReceiving = () => arrivals.note();
  const { uploads, staging, uploadStore } = openUploads({
    sqlite,
    writer,
    clock,
    log,
    events,
    tree,
    treeWriter,
    blobs,
    directory: paths.uploads,
    transfers,
    thumbnails: thumbnailer,
    limitsOf,
    contents: {
      // Content that failed its last check is to be sent again.
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
    reserveDisk,
    holdDisk,
    noteReceiving,
    findUser: (id) => users.findById(id),
    secret: secrets.link.secret,
  });
  const tus = new TusService({
    sqlite,
    store: uploadStore,
    blobs,
    tree,
    idempotency,
    quotaOf: (owner) => limitsOf(owner).quotaBytes,
    planOf: (owner) => limitsOf(owner).plan,
    reserveDisk,
    holdDisk,
    noteReceiving,
  });
  rateGate.setOwnerOfSigned((path, query) => ownerOfSigned(uploads, path, query));

  const devices = new DeviceService({
    db,
    writer,
    clock,
    log,
    users,
    auth,
    events,
    plans,
    pushTokens: notifications,
  });
  const rewinds = new RewindService({
    sqlite,
    writer,
    clock,
    tree,
    treeWriter,
    trials,
    deviceIdOf: (accountId, publicId) => devices.getId(accountId, publicId),
    limitsOf,
    turns,
    onDeleted,
  });
  const sync = new SyncService({ tree, tokens: syncTokens, clock, devices, hurryDeletions: () => onDetached.wake() });
  const usageOf = (user: User) =>
    accountUsage({
      totals: tree.usage(user.id),
      byType: tree.usageByType(user.id),
      transfers: transfers.read(user.id),
      devices: devices.count(user.id),
      plan: plans[user.plan],
      quotaBytes: user.quotaBytes,
    });

  return {
    massChangeGuard,
    conflicts,
    syncTokens,
    localChanges,
    holds,
    durability,
    queue,
    uploads,
    tus,
    staging,
    devices,
    rewinds,
    sync,
    /** Uploads of a device (by row id) that are under way. */
    pendingUploadsOf: pendingUploads(sqlite),
    usageOf,
  };
}

/** Index uploads_open. */
function pendingUploads(sqlite: Database): (deviceId: number) => number {
  const count = sqlite.prepare<{ count: number }, [number]>(
    "SELECT count(*) AS count FROM uploads WHERE device_id = ?1 AND ended_at IS NULL",
  );
  return (deviceId) => count.get(deviceId)?.count ?? 0;
}
