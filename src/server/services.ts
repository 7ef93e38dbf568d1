/** The composition root: opens the data directory and builds every service once, in order of dependency. */
import { join } from "node:path";
import { SQLiteError } from "bun:sqlite";
import { DerivedStore } from "../blobs/derived.ts";
import { digestToBytes } from "../blobs/digest.ts";
import { DiskBlobStore } from "../blobs/disk-blob-store.ts";
import { Layout } from "../blobs/layout.ts";
import { openSecrets } from "../config/secrets.ts";
import type { Config, PlanConfig } from "../config/settings.ts";
import { StartupError } from "../config/startup-error.ts";
import { ForeignDatabaseError, migrate, pendingMigrations } from "../db/migrate.ts";
import { assertSqliteVersion, type Db, openDatabase } from "../db/open.ts";
import { Reader } from "../db/reader.ts";
import { DiskReserve } from "../db/reserve.ts";
import { takeSnapshot } from "../db/snapshot.ts";
import { Writer } from "../db/transaction.ts";
import { Events } from "../events/events.ts";
import { AccountAdministration } from "../features/admin/service.ts";
import { Statistics } from "../features/admin/statistics.ts";
import { AuditLog } from "../features/audit/service.ts";
import { AuditTriggers } from "../features/audit/triggers.ts";
import { ArchiveSender } from "../features/archive/archive-sender.ts";
import { ArchiveService } from "../features/archive/service.ts";
import { PasswordHasher } from "../features/auth/passwords.ts";
import { ApiKeyService } from "../features/api-keys/service.ts";
import { AuthService } from "../features/auth/service.ts";
import { TokenSigner } from "../features/auth/tokens.ts";
import { presentDevice } from "../features/devices/present.ts";
import { DeviceService } from "../features/devices/service.ts";
import { DurabilityService } from "../features/durability/service.ts";
import { ConflictService } from "../features/conflicts/service.ts";
import { ContentSender } from "../features/files/content-sender.ts";
import { presentItem } from "../features/files/present.ts";
import { FileBulkService } from "../features/files/bulk.ts";
import { FileService, type StorageLimits } from "../features/files/service.ts";
import { FolderService } from "../features/folders/service.ts";
import { HistoryService, reachOf } from "../features/history/service.ts";
import { Idempotency } from "../features/idempotency/service.ts";
import { InviteService } from "../features/invites/service.ts";
import { BlobRows } from "../features/integrity/blob-rows.ts";
import { Collector } from "../features/integrity/gc.ts";
import { LocalChangeService } from "../features/local-changes/service.ts";
import { confirmationRequired, MassChangeBrake } from "../features/mass-change/brake.ts";
import { HoldService } from "../features/mass-change/service.ts";
import { AccessCounters } from "../features/plans/access-counters.ts";
import { buildPlans, type PlanOverride } from "../features/plans/plans.ts";
import { TransferCounters } from "../features/plans/transfers.ts";
import { StorageMarks } from "../features/plans/storage-marks.ts";
import { accountUsage } from "../features/plans/usage.ts";
import { PasskeyService } from "../features/passkeys/service.ts";
import { Permissions } from "../features/permissions/permissions.ts";
import { openPushChannels } from "../features/notifications/channels/channels.ts";
import { openMail } from "../features/mail/open.ts";
import { openSmtp } from "../features/mail/smtp.ts";
import { openNotifications } from "../features/notifications/open.ts";
import { openOidc } from "../features/oidc/open.ts";
import type { OidcService } from "../features/oidc/service.ts";
import { PasswordReset } from "../features/password-reset/service.ts";
import { ReceivedShareService } from "../features/received-shares/service.ts";
import { QueueService } from "../features/queue/service.ts";
import { DownloadLedger } from "../features/rate-limits/download-ledger.ts";
import { RateGate } from "../features/rate-limits/guard.ts";
import { RateLimiter } from "../features/rate-limits/limiter.ts";
import { RewindService } from "../features/rewind/service.ts";
import { openMediaInfo } from "../features/media-info/open.ts";
import { openSearch } from "../features/search/open.ts";
import { TagService } from "../features/tags/service.ts";
import { SigninLimiter } from "../features/rate-limits/signin-limiter.ts";
import { ShareSender } from "../features/shares/content-sender.ts";
import { openShares } from "../features/shares/open.ts";
import { SyncTokens } from "../features/sync/cursor.ts";
import { SyncService } from "../features/sync/service.ts";
import { PublicLinks } from "../features/shares/public-links.ts";
import { DropBox } from "../features/shares/upload-form.ts";
import { type FailureStore, ThumbnailService } from "../features/thumbnails/service.ts";
import { TrashService } from "../features/trash/service.ts";
import { openTree } from "../features/tree/tree.ts";
import type { FileNode } from "../features/tree/types.ts";
import { openUploads } from "../features/uploads/open.ts";
import { ownerOfSigned } from "../features/uploads/routes.ts";
import { TwoFactorService } from "../features/two-factor/service.ts";
import { eraseAccount } from "../features/users/erase-account.ts";
import { UserService } from "../features/users/service.ts";
import { VersionService } from "../features/versions/service.ts";
import type { User } from "../features/users/types.ts";
import { openWebhooks } from "../features/webhooks/open.ts";
import { CidrList } from "../lib/cidr.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { Outbound } from "../net/outbound.ts";
import { VERSION } from "../version.ts";
import { type DataPaths, makeWorkingFolders, openDataDirectory } from "./data-directory.ts";
import { availableBytes, DiskReservations, refuseNetworkFileSystem } from "./filesystem.ts";
import { bindStore, checkStore, refuseOrphanedStore, StoreGuard } from "./store-identity.ts";
import { subscribe } from "./subscriptions.ts";
import { timetable } from "./timetable.ts";

/** Everything that the server is made of. */
export type Services = Awaited<ReturnType<typeof openServices>>;

/** What commands work with, beside a running server or without one. */
export interface CommandServices {
  readonly users: UserService;
  readonly auth: AuthService;
  readonly twoFactor: TwoFactorService;
  readonly passwordReset: PasswordReset;
  readonly oidc: OidcService | undefined;
  readonly audit: AuditLog;
  readonly events: Events;
  readonly invites: InviteService;
  /** Ends an account for good. @throws AppError last_admin */
  readonly eraseAccount: (user: User) => Promise<void>;
  /** Runs a job of the timetable by name, at once. @returns its result in words */
  runJob(name: string, jobArguments: unknown): Promise<string>;
  close(): Promise<void>;
}

/** How long a thumbnail gives way to uploads that are running; its process has the lowest priority besides. */
const THUMBNAIL_PATIENCE_MS = 100;

/** How long a command's statement waits for the server's lock. */
const COMMAND_BUSY_TIMEOUT_MS = 5_000;

/**
 * Opens data directory, database and store, brings the database up to date, and builds all services.
 * @throws StartupError with what is wrong and what to do
 */
export async function openServices(config: Config, log: Log, clock: Clock = systemClock, busyTimeoutMs?: number) {
  assertSqliteVersion();
  const paths = openDataDirectory(config.data);
  refuseOrphanedStore(paths);
  const warning = refuseNetworkFileSystem(paths.root, config.allowNetworkFilesystem);
  if (warning !== undefined) log.warn(warning);
  const secrets = openSecrets(paths.secrets);
  const outbound = new Outbound({ allow: CidrList.parse(config.outboundAllow) });
  const pushChannels = await openPushChannels({ config, vapid: secrets.vapid, outbound, clock });
  const db = openOwnDatabase(paths, log, busyTimeoutMs);
  const storeId = bindStore(db.sqlite, paths);
  makeWorkingFolders(paths);

  const reserve = new DiskReserve(join(paths.root, "larder.reserve"), () => availableBytes(paths.root), log);
  const writer = new Writer(db.sqlite, log, () => reserve.release());
  const storeGuard = new StoreGuard(paths, storeId);
  const blobRows = new BlobRows(db.sqlite);
  const events = new Events();
  const layout = new Layout(paths.root);
  const blobs = new DiskBlobStore({
    layout,
    index: blobRows,
    log,
    checkStore: () => storeGuard.check(),
    verifyAfterWrite: config.verifyAfterWrite,
  });
  blobs.makeFolders();

  const reader = new Reader(paths.database, log);
  const { reader: tree, writer: treeWriter } = openTree({ sqlite: db.sqlite, reader, clock, log, events });

  const audit = new AuditLog({ db, reader, writer, clock, log, keepMs: config.audit.keepMs });
  const passwords = new PasswordHasher();
  const users = new UserService({
    db,
    writer,
    clock,
    passwords,
    events,
    createRoot: (tx, accountId) => treeWriter.createAccountRoot(tx, accountId),
  });
  const passkeys = new PasskeyService({ sqlite: db.sqlite, writer, clock, events, users });
  const twoFactor = new TwoFactorService({
    sqlite: db.sqlite,
    writer,
    clock,
    events,
    key: secrets.factors.secret,
    hasPasskeys: (userId) => passkeys.count(userId) > 0,
  });
  const apiKeys = new ApiKeyService({ sqlite: db.sqlite, writer, clock, users, events });
  const auth = new AuthService({
    db,
    writer,
    clock,
    users,
    passwords,
    tokens: new TokenSigner(secrets.jwt),
    secondFactors: twoFactor,
    tokenLifetimeMs: config.tokenLifetimeMs,
    signup: config.signup,
    defaultPlan: config.defaultPlan,
  });

  const permissions = new Permissions({ sqlite: db.sqlite, tree, users, clock });
  const receivedShares = new ReceivedShareService({ sqlite: db.sqlite, writer, clock, events, tree, users });

  const tags = new TagService({ writer, tree, treeWriter, permissions });
  const searchReader = new Reader(paths.database, log);
  const mediaInfo = openMediaInfo({
    sqlite: db.sqlite,
    writer,
    clock,
    log,
    findPath: (digest) => (blobs.stat(digest) === undefined ? undefined : blobs.pathOf(digest)),
    onRead: (tx, digest) => markAgain(tx, digest),
    isBusy: () => arriving > 0,
    program: VERSION,
  });
  const {
    search,
    indexer: searchIndexer,
    markAgain,
  } = openSearch({
    sqlite: db.sqlite,
    reader: searchReader,
    writer,
    tree,
    log,
    noteContent: (tx, digest, mediaType) => mediaInfo.enqueue(tx, digest, mediaType),
  });

  const plans = buildPlans({
    overrides: {
      free: overrideOf(config.plans.free),
      pro: overrideOf(config.plans.pro),
      enterprise: overrideOf(config.plans.enterprise),
    },
    limitMultiplier: config.rateLimitScale,
    rateLimits: config.rateLimits ? "on" : "off",
  });
  const limiter = new RateLimiter({ db, writer, clock, log });
  const rateGate = new RateGate({
    limiter,
    signins: new SigninLimiter({ limiter, plans }),
    downloads: new DownloadLedger(),
    planOf: (name) => plans[name],
    findPlan: (email) => users.findByEmail(email)?.plan,
    clock,
  });

  const transfers = new TransferCounters({ db, writer, clock, log });
  const access = new AccessCounters({ db, writer, log });
  const links = new PublicLinks(db.sqlite, secrets.link.secret, clock, events);
  const idempotency = new Idempotency(db.sqlite, clock);
  const derived = new DerivedStore(paths.thumbs);
  const failures = thumbnailFailures(db, clock);
  let arriving = 0;
  const thumbnails = new ThumbnailService({
    blobs,
    derived,
    failures,
    log,
    config: {
      concurrency: config.thumbnails.concurrency,
      timeoutMs: config.thumbnails.timeoutMs,
      memoryLimitBytes: config.thumbnails.memoryLimitBytes,
      patienceMs: THUMBNAIL_PATIENCE_MS,
      nativeDir: config.nativeDir ?? join(paths.root, "native"),
      ...(config.libvips !== null && { libvips: config.libvips }),
    },
    childCommand: Bun.isStandaloneExecutable
      ? [process.execPath, "thumbnail-worker"]
      : [process.execPath, Bun.main, "thumbnail-worker"],
    environment: process.env,
    isBusy: () => arriving > 0,
  });
  const canRender = (mediaType: string) => config.thumbnails.enabled && thumbnails.canRender(mediaType);
  // A failure of another program version is no failure of this one: it will be tried again.
  const hasThumbnail = (file: FileNode) =>
    canRender(file.mediaType) && failures.find(file.digest)?.program !== thumbnails.program;
  const thumbnailer: Pick<ThumbnailService, "schedule" | "get"> = config.thumbnails.enabled
    ? thumbnails
    : { schedule: () => {}, get: async () => ({ state: "none", reason: "Thumbnails are switched off." }) };

  const reservations = new DiskReservations(paths.blobs, config.minFreeSpaceBytes);
  const limitsOf = (user: User): StorageLimits => {
    const plan = plans[user.plan];
    return {
      plan: plan.name,
      maxFileSizeBytes: plan.maxFileSizeBytes,
      quotaBytes: user.quotaBytes === undefined ? plan.quotaBytes : user.quotaBytes,
    };
  };
  const files = new FileService({
    blobs,
    writer,
    clock,
    tree,
    treeWriter,
    permissions,
    links,
    idempotency,
    transfers,
    access,
    thumbnails: thumbnailer,
    limitsOf,
    reserveSpace: (bytes) => {
      storeGuard.check();
      const release = reservations.reserve(bytes);
      arriving++;
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        arriving--;
        release();
      };
    },
    markDamaged: (digest, isDamaged) =>
      writer.run(() => {
        if (isDamaged) blobRows.markDamaged(digest, clock.nowMs());
        else blobRows.markVerified(digest, clock.nowMs());
      }),
  });
  const bulk = new FileBulkService({ writer, treeWriter, permissions, idempotency, limitsOf });
  const { notifications, triggers, dispatcher } = openNotifications({
    db,
    writer,
    clock,
    log,
    users,
    channels: pushChannels,
  });
  const storageMarks = new StorageMarks({
    events,
    quotaOf: (accountId) => {
      const user = users.findById(accountId);
      return user === undefined ? null : limitsOf(user).quotaBytes;
    },
  });
  const hooks = openWebhooks({
    sqlite: db.sqlite,
    writer,
    clock,
    log,
    events,
    outbound,
    key: secrets.link.secret,
    recordOf: (accountId, publicId) => {
      const node = tree.findNode(accountId, publicId);
      return node && presentItem(node, { baseUrl: config.publicUrl ?? "", hasThumbnail });
    },
    deviceRecordOf: (accountId, publicId) => {
      const device = devices.find(accountId, publicId);
      return device && presentDevice(device, undefined);
    },
  });
  const collector = new Collector({ rows: blobRows, blobs, writer, clock, log, graceMs: config.gcGraceMs });
  /** Set by the lifecycle: wakes the job that takes deleted folders apart. */
  const onDetached = { wake: () => {} };
  const folders = new FolderService({
    writer,
    permissions,
    treeWriter,
    idempotency,
    onDetached: () => onDetached.wake(),
  });
  const sender = new ContentSender({
    blobs,
    thumbnails: thumbnailer,
    derived,
    access,
    transfers,
    downloads: new DownloadLedger(),
    clock,
    onCounted: (file) => hooks.downloads.note(file),
  });

  const versions = new VersionService({
    writer,
    tree,
    treeWriter,
    permissions,
    limitsOf,
    findUser: (id) => users.findById(id),
  });
  const history = new HistoryService({
    sqlite: db.sqlite,
    writer,
    clock,
    tree,
    treeWriter,
    limitsOf,
    reachMs: reachOf(config.versions.maxAgeMs),
  });
  const {
    shares,
    door: shareDoor,
    statistics: shareStatistics,
    rows: shareRows,
    barePictures,
  } = openShares({
    sqlite: db.sqlite,
    writer,
    clock,
    log,
    events,
    tree,
    treeWriter,
    users,
    passwords,
    permissions,
    links,
    blobs,
    derived,
    secret: secrets.link.secret,
  });
  const shareSender = new ShareSender({
    door: shareDoor,
    statistics: shareStatistics,
    barePictures,
    blobs,
    thumbnails: thumbnailer,
    derived,
    access,
    transfers,
    downloads: new DownloadLedger(),
    rateGate,
    clock,
    onCounted: (file) => hooks.downloads.note(file),
  });
  const dropBox = new DropBox({ door: shareDoor, rows: shareRows, files, limitsOf, clock });
  const trash = new TrashService({
    writer,
    clock,
    tree,
    treeWriter,
    permissions,
    access,
    keepMs: config.trash.keepMs,
    onDetached: () => onDetached.wake(),
  });
  const archives = new ArchiveService({ tree, blobs, log });
  const archiveSender = new ArchiveSender({ transfers, downloads: new DownloadLedger(), clock });

  const brake = new MassChangeBrake({
    sqlite: db.sqlite,
    clock,
    events,
    tree,
    filesMax: config.massChangeFiles,
    percentMax: config.massChangePercent,
  });
  const onDeleted = (nodeId: number) => access.forget(nodeId);
  const conflicts = new ConflictService({
    sqlite: db.sqlite,
    writer,
    clock,
    tree,
    treeWriter,
    limitsOf,
    onDeleted,
    brake,
  });
  const syncTokens = new SyncTokens(secrets.link.secret);
  const localChanges = new LocalChangeService({
    sqlite: db.sqlite,
    reader,
    writer,
    clock,
    tree,
    treeWriter,
    users,
    conflicts,
    brake,
    limitsOf,
    onDeleted,
  });
  const holds = new HoldService({
    sqlite: db.sqlite,
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
    sqlite: db.sqlite,
    writer,
    clock,
    log,
    tree,
    treeWriter,
    users,
    access,
    brake,
  });

  const { uploads, staging } = openUploads({
    sqlite: db.sqlite,
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
      // Content that failed its last check is to be sent again (D10).
      isStored: (accountId, digest, sizeBytes) =>
        tree.findFileWithContent(accountId, digest)?.sizeBytes === sizeBytes &&
        tree.findBlob(digest)?.damagedAtMs === null,
      wasDeleted: (accountId, digest) => tree.wasDeleted(accountId, digest),
      markWhole: (digest) => blobRows.markDamaged(digest, null),
    },
    admitReplacement: (tx, device, { accountId, ...change }) => {
      const hold = brake.admit(tx, device, accountId, [{ action: "update", ...change }]);
      return hold && confirmationRequired(hold);
    },
    reserveDisk: (bytes) => {
      storeGuard.check();
      return reservations.reserve(bytes);
    },
    holdDisk: (bytes) => reservations.hold(bytes),
    noteArriving: () => {
      arriving++;
      return () => {
        arriving--;
      };
    },
    findUser: (id) => users.findById(id),
    secret: secrets.link.secret,
  });
  rateGate.setOwnerOfSigned((path, query) => ownerOfSigned(uploads, path, query));

  const { publicUrl } = config;
  const { mail, mailNotices, mailDispatcher } = openMail({
    db,
    writer,
    clock,
    log,
    users,
    smtp: openSmtp(config),
    publicUrl,
  });
  const passwordReset = new PasswordReset({
    sqlite: db.sqlite,
    writer,
    clock,
    log,
    users,
    auth,
    events,
    mail,
    publicUrl,
  });
  const oidc = openOidc({
    config,
    db,
    writer,
    clock,
    log,
    users,
    auth,
    secret: secrets.link.secret,
    onLinked: (tx, accountId, name) => mailNotices.signInLinked(tx, accountId, name),
  });

  subscribe({
    events,
    audit: new AuditTriggers(audit, (id) => users.findById(id)),
    mailNotices,
    passwordReset,
    storageMarks,
    webhooks: hooks.recorder,
    notifications: triggers,
    uploads,
    conflicts,
    holds,
    queue,
    receivedShares,
  });

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
    sqlite: db.sqlite,
    writer,
    clock,
    tree,
    treeWriter,
    deviceIdOf: (accountId, publicId) => devices.getId(accountId, publicId),
    limitsOf,
    onDeleted,
  });
  const sync = new SyncService({ tree, tokens: syncTokens, clock, devices, hurryDeletions: () => onDetached.wake() });

  const invites = new InviteService({
    db,
    writer,
    clock,
    users,
    mail,
    defaultPlan: config.defaultPlan,
    signup: config.signup,
  });
  const erase = (user: User) =>
    eraseAccount({ db, writer, users, auth, treeWriter, onDetached: () => onDetached.wake() }, user);
  const accounts = new AccountAdministration({ reader, writer, users, auth, events, eraseAccount: erase });
  const statistics = new Statistics({
    reader,
    clock,
    queues: {
      push: "SELECT count(*) AS waiting FROM push_deliveries WHERE finished_at IS NULL",
      mail: "SELECT count(*) AS waiting FROM mails WHERE finished_at IS NULL",
      webhooks: "SELECT count(*) AS waiting FROM webhook_deliveries WHERE finished_at IS NULL",
      offline: "SELECT count(*) AS waiting FROM queue_operations WHERE status = 0",
    },
  });

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
    config,
    log,
    clock,
    paths,
    db,
    writer,
    reader,
    audit,
    events,
    blobs,
    storeGuard,
    collector,
    tree,
    treeWriter,
    permissions,
    receivedShares,
    users,
    auth,
    apiKeys,
    twoFactor,
    passkeys,
    plans,
    limiter,
    rateGate,
    transfers,
    access,
    links,
    shares,
    shareDoor,
    shareStatistics,
    shareSender,
    barePictures,
    dropBox,
    idempotency,
    thumbnails,
    derived,
    outbound,
    pushChannels,
    notifications,
    pushDispatcher: dispatcher,
    mail,
    mailDispatcher,
    passwordReset,
    oidc,
    webhooks: hooks.webhooks,
    webhookDispatcher: hooks.dispatcher,
    webhookSubscriptions: hooks.subscriptions,
    hasThumbnail,
    tags,
    search,
    searchIndexer,
    mediaInfo,
    files,
    bulk,
    folders,
    versions,
    history,
    sender,
    archives,
    archiveSender,
    trash,
    devices,
    /** Uploads of a device (by row id) that are under way. */
    pendingUploadsOf: pendingUploads(db),
    usageOf,
    invites,
    accounts,
    eraseAccount: erase,
    statistics,
    uploads,
    brake,
    conflicts,
    localChanges,
    sync,
    syncTokens,
    holds,
    queue,
    durability,
    rewinds,
    onDetached,
    reserve,
    /** Writes what waits in memory and closes everything. No request may be running any more. */
    async close() {
      await Promise.all([searchIndexer.stop(), mediaInfo.stop()]);
      await Promise.all([
        audit.flush(),
        limiter.flush(),
        transfers.flush(),
        access.flush(),
        devices.flush(),
        shareStatistics.flush(),
      ]);
      await hooks.downloads.flush();
      await hooks.dispatcher.close();
      await dispatcher.close();
      await mailDispatcher.close();
      await Promise.all([thumbnails.close(), pushChannels.close()]);
      staging.close();
      blobs.close();
      searchReader.close();
      reader.close();
      db.close();
    },
  };
}

/** Opens the services for a command. Beside a running server they share its database; nothing is swept or scheduled. */
export async function openForCommand(config: Config, log: Log): Promise<CommandServices> {
  const services = await openServices(config, log, systemClock, COMMAND_BUSY_TIMEOUT_MS);
  return {
    users: services.users,
    auth: services.auth,
    twoFactor: services.twoFactor,
    passwordReset: services.passwordReset,
    oidc: services.oidc,
    audit: services.audit,
    events: services.events,
    invites: services.invites,
    eraseAccount: services.eraseAccount,
    async runJob(name, jobArguments) {
      const job = timetable(services).find((entry) => entry.name === name);
      if (job === undefined) throw new Error(`There is no job named ${name}.`);
      return job.run({
        signal: new AbortController().signal,
        cursor: null,
        setCursor: async () => {},
        arguments: jobArguments,
      });
    },
    close: () => services.close(),
  };
}

/**
 * Opens the database and brings it up to date; a snapshot first where there is something to lose, so that there is a way
 * back (D6).
 * @throws StartupError where the file is no database, damaged, of a newer version, or of another store
 */
function openOwnDatabase(paths: DataPaths, log: Log, busyTimeoutMs: number | undefined): Db {
  try {
    const db = openDatabase(paths.database, busyTimeoutMs);
    checkStore(db.sqlite, paths);
    const hasTables = db.sqlite.query("SELECT 1 FROM sqlite_schema LIMIT 1").get() !== null;
    if (hasTables && pendingMigrations(db.sqlite).length > 0) {
      const path = takeSnapshot(db.sqlite, paths.snapshots, "before-migration");
      log.info(
        "The database was copied before its change. To go back, stop the server and put the copy in its place.",
        {
          path,
        },
      );
    }
    migrate(db.sqlite, log);
    return db;
  } catch (error) {
    if (error instanceof ForeignDatabaseError) throw new StartupError(`${paths.database}: ${error.message}`);
    if (error instanceof SQLiteError && /^SQLITE_(NOTADB|CORRUPT)/.test(error.code ?? "")) {
      throw new StartupError(
        `${paths.database} is not a database, or is damaged (${error.message}). Nothing was changed. ` +
          `Move it away with its -wal and -shm, and put a backup or the newest copy from ${paths.snapshots} in its place.`,
      );
    }
    throw error;
  }
}

/** The configuration holds every number of a plan, with scale and preset applied. */
function overrideOf(plan: PlanConfig): PlanOverride {
  const { maxFileSizeBytes, quotaBytes, devices, limit } = plan;
  return { maxFileSizeBytes, quotaBytes, devices, limits: limit };
}

/** Index uploads_open. */
function pendingUploads(db: Db): (deviceId: number) => number {
  const count = db.sqlite.prepare<{ count: number }, [number]>(
    "SELECT count(*) AS count FROM uploads WHERE device_id = ?1 AND ended_at IS NULL",
  );
  return (deviceId) => count.get(deviceId)?.count ?? 0;
}

function thumbnailFailures(db: Db, clock: Clock): FailureStore {
  const find = db.sqlite.query<{ reason: string; program: string }, [Uint8Array]>(
    "SELECT reason, program FROM thumbnail_failures WHERE digest = ?1",
  );
  const record = db.sqlite.query<void, [Uint8Array, string, string, number]>(
    "INSERT OR REPLACE INTO thumbnail_failures (digest, reason, program, failed_at) VALUES (?1, ?2, ?3, ?4)",
  );
  return {
    find: (digest) => find.get(digestToBytes(digest)) ?? undefined,
    record: (digest, reason, program) => void record.run(digestToBytes(digest), reason, program, clock.nowMs()),
  };
}
