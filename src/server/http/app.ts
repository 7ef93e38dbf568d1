/** The table of contents of the API: guards and routes, in the order in which a request meets them. */
import { isExhausted, translateDiskError } from "../../blobs/disk.ts";
import { isDamage, translateSqliteError } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { activityRoutes } from "../../features/library/activity/routes.ts";
import { adminRoutes } from "../../features/administration/admin-api/routes.ts";
import { auditRoutes } from "../../features/administration/audit/routes.ts";
import { inviteRoutes } from "../../features/accounts/invites/routes.ts";
import { apiKeyRoutes } from "../../features/accounts/api-keys/routes.ts";
import { archiveRoutes } from "../../features/library/archive/routes.ts";
import { authGuard } from "../../features/accounts/auth/guard.ts";
import { authRoutes, sessionCookies } from "../../features/accounts/auth/routes.ts";
import { conflictRoutes } from "../../features/mobile/conflicts/routes.ts";
import { deviceRoutes } from "../../features/mobile/devices/routes.ts";
import { durabilityRoutes } from "../../features/mobile/durability/routes.ts";
import { fileBulkRoutes } from "../../features/library/files/bulk-routes.ts";
import { fileContentRoutes } from "../../features/library/files/content-routes.ts";
import { fileRoutes } from "../../features/library/files/routes.ts";
import { folderRoutes } from "../../features/library/folders/routes.ts";
import { findPast, listPast } from "../../features/library/history/listing.ts";
import { historyRoutes } from "../../features/library/history/routes.ts";
import { localChangeRoutes } from "../../features/mobile/local-changes/routes.ts";
import { presentIntegrity } from "../../features/storage/integrity/present.ts";
import { findingRoutes } from "../../features/storage/integrity/routes.ts";
import { holdRoutes } from "../../features/mobile/mass-change/routes.ts";
import { confirmRoutes } from "../../features/accounts/auth/confirm-routes.ts";
import { passkeyRoutes } from "../../features/accounts/passkeys/routes.ts";
import { rewindRoutes } from "../../features/mobile/rewind/routes.ts";
import { receivedShareRoutes } from "../../features/sharing/received/routes.ts";
import { queueRoutes } from "../../features/mobile/offline-queue/routes.ts";
import { notificationRoutes } from "../../features/messaging/notifications/routes.ts";
import { categoryOf } from "../../features/accounts/rate-limits/categories.ts";
import { rateLimitGuard } from "../../features/accounts/rate-limits/guard.ts";
import { Router, routeTable } from "../../features/accounts/routing/router.ts";
import { searchRoutes } from "../../features/library/search/routes.ts";
import { oidcRoutes } from "../../features/accounts/oidc/routes.ts";
import { RESET_LIFETIME_MS, resetLink } from "../../features/accounts/password-reset/service.ts";
import { photoRoutes } from "../../features/library/photos/routes.ts";
import { emailConfirmationRoutes } from "../../features/accounts/email-confirmation/routes.ts";
import { passwordResetRoutes } from "../../features/accounts/password-reset/routes.ts";
import { setupRoutes } from "../../features/accounts/setup/routes.ts";
import { ShareDownloads, shareHeaders } from "../../features/sharing/shares/guard.ts";
import { sharePageRejection, sharePageRoutes } from "../../features/sharing/shares/page-routes.ts";
import { publicRoutes } from "../../features/sharing/shares/routes.ts";
import { shareRoutes } from "../../features/sharing/shares/share-routes.ts";
import { tagRoutes } from "../../features/library/tags/routes.ts";
import { syncRoutes } from "../../features/mobile/sync/routes.ts";
import { twoFactorRoutes } from "../../features/accounts/two-factor/routes.ts";
import { trashRoutes } from "../../features/library/trash/routes.ts";
import { tusHeaders } from "../../features/uploads/tus/guard.ts";
import { publicTusRoutes } from "../../features/uploads/tus/public-routes.ts";
import { tusRoutes } from "../../features/uploads/tus/routes.ts";
import { uploadRoutes } from "../../features/uploads/chunked/routes.ts";
import { userRoutes } from "../../features/accounts/profile/routes.ts";
import { versionRoutes } from "../../features/library/versions/routes.ts";
import { webhookRoutes } from "../../features/messaging/webhooks/routes.ts";
import type { LoadedConfig } from "../../config/load.ts";
import type { JobOutcome, JobState } from "../../jobs/scheduler.ts";
import { noteAudit } from "../../http/audit-note.ts";
import { base, gate } from "../../http/base.ts";
import { BodyPaces } from "../../http/body-pace.ts";
import { ClientAddresses, isForwarded } from "../../http/client-address.ts";
import { requestContextOf } from "../../http/request-context.ts";
import type { Log } from "../../lib/log.ts";
import { VERSION } from "../../version.ts";
import { renderErrorPage } from "../../web/pages/error-page.ts";
import { pageResponse } from "../../web/pages/page.ts";
import { publicScript } from "../../web/bundle/client-files.ts";
import { webRoutes } from "../../web/routes.ts";
import { availableBytes, totalBytes } from "../data/filesystem.ts";
import { documentOf } from "./openapi.ts";
import { healthOf, healthRoutes } from "./health.ts";
import { metricsRoutes } from "./metrics.ts";
import { isPass, PASS_HEADER } from "./public-view.ts";
import { RequestStatistics } from "../observability/request-statistics.ts";
import type { Services } from "../composition/services.ts";

/** What the application asks of the process that runs it. */
export interface AppHost {
  /** The address at the other end of a request's connection. */
  peerOf(request: Request): string;
  /** Gives the connection of a request its whole idle time again. */
  keepOpen(request: Request): void;
  /** The bodies on their way to this server. */
  readonly bodies: BodyPaces;
  /** Lets a request take as long as it needs. */
  allowLong(request: Request): void;
  isDraining(): boolean;
  /** Whether more requests are under way than the server takes at once. */
  isOverloaded(): boolean;
  /** Requests that are not answered yet. */
  requestsUnderWay(): number;
  /** When the server's own certificate ends; undefined without TLS. */
  certificateEndsMs(): number | undefined;
  /** How the settings came about; undefined where nothing is served. */
  configuration(): LoadedConfig | undefined;
  /** What is counted of requests. */
  readonly requests: RequestStatistics;
  /** Called once the first administrator chose who will use the server. */
  onSetUp(use: "household" | "accounts"): void;
  /** Called for each request: notices what other processes changed. */
  noticeChanges(): void;
  /** The scheduled jobs and how they stand. */
  listJobs(): readonly JobState[];
  /** Runs a job now. */
  runJob(name: string): Promise<JobOutcome>;
}

/** A host for where nothing is served: making the document. */
const NO_HOST: AppHost = {
  peerOf: () => "127.0.0.1",
  keepOpen: () => {},
  bodies: new BodyPaces({ perAddressMax: 1 }),
  allowLong: () => {},
  isDraining: () => false,
  isOverloaded: () => false,
  requestsUnderWay: () => 0,
  certificateEndsMs: () => undefined,
  configuration: () => undefined,
  requests: new RequestStatistics(() => []),
  onSetUp: () => {},
  noticeChanges: () => {},
  listJobs: () => [],
  runJob: async () => ({ isOk: false, text: "Nothing runs." }),
};

/** The whole application over the given services. */
export function createApp(services: Services, host: AppHost = NO_HOST) {
  const { config, log, clock, auth, users, rateGate, files, folders, tree, links, access, sender, hasThumbnail } =
    services;
  const { basePath } = config;
  const guard = authGuard({ auth, apiKeys: services.apiKeys, noticeChanges: () => host.noticeChanges() });
  const cookies = sessionCookies(basePath === "" ? "/" : basePath, config.tokenLifetimeMs);
  let document: Promise<unknown> | undefined;
  const addresses = new ClientAddresses(config.trustedProxies, log, config.socket !== null);
  const whyNotReady = () => {
    if (host.isDraining()) return "The server is stopping.";
    try {
      services.storeGuard.check();
      return services.writer.fault;
    } catch (error) {
      return error instanceof Error ? error.message : "The store is not available.";
    }
  };

  const ruleOf = (method: string, path: string) => routes.find(method, path)?.declaration.rate;

  const sharing = {
    shareAccess: services.shareAccess,
    guesses: services.linkGuesses,
    sender: services.shareSender,
    dropBox: services.dropBox,
    statistics: services.shareStatistics,
    tree,
    rateGate,
    guard,
    hasThumbnail,
  };
  const sharePages = { basePath, scripts: () => publicScriptOrNone(log) };
  const shareDownloads = new ShareDownloads({
    ...sharing,
    archives: services.archives,
    archiveSender: services.archiveSender,
    renderRejection: sharePageRejection(sharePages),
  });
  const router = new Router({ name: "larder" })
    .hook(
      base({
        log,
        corsOrigins: config.corsOrigins,
        methodsOf: (path) => routes.methodsOf(path),
        renderErrorPage: (status, message) => pageResponse(renderErrorPage(basePath, status, message), status),
        translate: (error) => {
          if (isExhausted(error)) return translateDiskError(error);
          const cause = error instanceof AppError ? error.cause : error;
          if (isDamage(cause)) services.writer.noteDamage(String(cause));
          return translateSqliteError(error);
        },
        onFailure: (request, error, headers) => {
          rateGate.showBodyLimit(error, headers);
          const { path, query } = requestContextOf(request);
          host.requests.noteFailure(
            error instanceof AppError ? error.reason : "unexpected",
            categoryOf(ruleOf(request.method, path), path, query),
          );
          if (error instanceof AppError) noteAudit(request, { reason: error.reason });
        },
        addresses,
        publicUrl: config.publicUrl ?? undefined,
        basePath,
        isTls: config.tls.certFile !== null,
        peerOf: (request) => host.peerOf(request),
        keepOpen: (request) => host.keepOpen(request),
        bodies: host.bodies,
      }),
    )
    .hook(shareHeaders())
    .hook(tusHeaders())
    .hook(guard)
    .hook(rateLimitGuard(rateGate, ruleOf))
    .hook(gate(host))
    .use(
      authRoutes({
        auth,
        guard,
        rateGate,
        tokenLifetimeMs: config.tokenLifetimeMs,
        cookies,
      }),
    )
    .use(confirmRoutes({ proof: services.proof, guard }))
    .use(
      userRoutes({
        users,
        auth,
        apiKeys: services.apiKeys,
        proof: services.proof,
        events: services.events,
        guard,
        rateGate,
        usageOf: (principal) => services.usageOf(principal.user),
        versionsMax: config.versions.keep,
        eraseAccount: (principal, proven) => services.eraseAccount(principal.user, proven),
      }),
    )
    .use(apiKeyRoutes({ apiKeys: services.apiKeys, proof: services.proof, guard }))
    .use(
      twoFactorRoutes({
        twoFactor: services.twoFactor,
        proof: services.proof,
        guard,
        countPasskeys: (userId) => services.passkeys.count(userId),
      }),
    )
    .use(
      passkeyRoutes({
        passkeys: services.passkeys,
        auth,
        proof: services.proof,
        guard,
        cookies,
        tokenLifetimeMs: config.tokenLifetimeMs,
      }),
    )
    .use(receivedShareRoutes({ received: services.receivedShares, guard, hasThumbnail }))
    .use(folderRoutes({ folders, guard, clock }))
    .use(
      trashRoutes({
        trash: services.trash,
        guard,
        clock,
        hasThumbnail,
        allowLong: (request) => host.allowLong(request),
      }),
    )
    .use(
      archiveRoutes({
        archives: services.archives,
        archiveSender: services.archiveSender,
        permissions: services.permissions,
        rateGate,
        guard,
      }),
    )
    .use(tagRoutes({ tags: services.tags, guard, hasThumbnail }))
    .use(searchRoutes({ search: services.search, guard, hasThumbnail }))
    .use(activityRoutes({ activity: services.activity, guard }))
    .use(photoRoutes({ photos: services.photos, guard, hasThumbnail }))
    .use(
      fileRoutes({
        files,
        mediaInfo: services.mediaInfo,
        permissions: services.permissions,
        tree,
        links,
        access,
        guard,
        clock,
        hasThumbnail,
        past: {
          list: (user, query, context) => listPast(services.history, user, query, context),
          find: (user, fileId, query, context) => findPast(services.history, user, fileId, query, context),
        },
      }),
    )
    .use(fileBulkRoutes({ bulk: services.bulk, guard, hasThumbnail }))
    .use(
      fileContentRoutes({
        files,
        permissions: services.permissions,
        sender,
        rateGate,
        guard,
        hasThumbnail,
        allowLong: (request) => host.allowLong(request),
      }),
    )
    .use(versionRoutes({ versions: services.versions, sender, rateGate, guard, clock, hasThumbnail }))
    .use(historyRoutes({ history: services.history, guard, allowLong: (request) => host.allowLong(request) }))
    .use(
      deviceRoutes({
        devices: services.devices,
        auth,
        guard,
        rateGate,
        pendingUploadsOf: (deviceId) => services.pendingUploadsOf(deviceId),
        fileBytesOf: (accountId) => tree.usage(accountId).fileBytes,
      }),
    )
    .use(syncRoutes({ sync: services.sync, conflicts: services.conflicts, guard, hasThumbnail }))
    .use(
      localChangeRoutes({
        localChanges: services.localChanges,
        conflicts: services.conflicts,
        tokens: services.syncTokens,
        guard,
      }),
    )
    .use(conflictRoutes({ conflicts: services.conflicts, devices: services.devices, guard }))
    .use(holdRoutes({ holds: services.holds, guard }))
    .use(rewindRoutes({ rewinds: services.rewinds, guard, allowLong: (request) => host.allowLong(request) }))
    .use(queueRoutes({ queue: services.queue, guard }))
    .use(
      durabilityRoutes({
        durability: services.durability,
        guard,
        allowLong: (request) => host.allowLong(request),
      }),
    )
    .use(notificationRoutes({ notifications: services.notifications, guard }))
    .use(webhookRoutes({ webhooks: services.webhooks, guard, allowLong: (request) => host.allowLong(request) }))
    .use(
      uploadRoutes({
        uploads: services.uploads,
        files,
        rateGate,
        guard,
        hasThumbnail,
        allowLong: (request) => host.allowLong(request),
      }),
    )
    .use(
      tusRoutes({
        tus: services.tus,
        files,
        permissions: services.permissions,
        tree,
        limitsOf: services.limitsOf,
        guard,
        hasThumbnail,
        allowLong: (request) => host.allowLong(request),
      }),
    )
    .use(
      publicTusRoutes({
        tus: services.tus,
        dropBox: services.dropBox,
        guard,
        allowLong: (request) => host.allowLong(request),
      }),
    )
    .use(
      publicRoutes({
        ...sharing,
        downloads: shareDownloads,
      }),
    )
    .use(sharePageRoutes({ ...sharing, ...sharePages, downloads: shareDownloads, auth }))
    .use(shareRoutes({ shares: services.shares, guard, clock }))
    .use(emailConfirmationRoutes({ confirmations: services.emailConfirmation, guard, clock, basePath }))
    .use(passwordResetRoutes({ resets: services.passwordReset, guard, basePath }))
    .use(
      oidcRoutes({
        oidc: services.oidc,
        auth,
        proof: services.proof,
        guard,
        tokenLifetimeMs: config.tokenLifetimeMs,
        cookies,
        signup: config.signup,
        isSetUp: () => users.hasAny(),
        hasMail: services.mail.isConfigured,
        basePath,
      }),
    )
    .use(
      adminRoutes({
        accounts: services.accounts,
        statistics: services.statistics,
        auth,
        proof: services.proof,
        devices: services.devices,
        guard,
        clock,
        plans: services.plans,
        defaultPlan: config.defaultPlan,
        usageOf: (user) => services.usageOf(user),
        twoFactor: {
          isEnabled: (userId) => services.twoFactor.methodsOf(userId).length > 0,
          disable: async (user, check) => {
            await services.writer.run((tx) => {
              check(tx);
              services.twoFactor.disable(tx, user);
            });
          },
        },
        resetLinks: {
          async issue(user, baseUrl, check) {
            const token = await services.passwordReset.issueNow(user.id, check);
            return { url: resetLink(baseUrl, token), expiresAtMs: clock.nowMs() + RESET_LIFETIME_MS };
          },
        },
        jobs: { list: () => host.listJobs(), run: (name) => host.runJob(name) },
        disk: {
          freeBytes: () => availableBytes(services.paths.blobs),
          totalBytes: () => totalBytes(services.paths.blobs),
        },
        version: VERSION,
        integrity: () => presentIntegrity(services.integrity.figures(), config.scrub.withinMs, clock.nowMs()),
        samples: services.dailySamples,
        health: () => healthOf(services, { notReady: whyNotReady(), certificateEndsAtMs: host.certificateEndsMs() }),
        configuration: () => host.configuration(),
      }),
    )
    .use(findingRoutes({ integrity: services.integrity, guard }))
    .use(inviteRoutes({ invites: services.invites, auth, proof: services.proof, cookies, guard, clock, basePath }))
    .use(auditRoutes({ audit: services.audit, guard, clock, allowLong: (request) => host.allowLong(request) }))
    .use(setupRoutes({ auth, cookies, defaultPlan: config.defaultPlan, basePath, onSetUp: (use) => host.onSetUp(use) }))
    .use(
      healthRoutes({
        whyNotReady,
        viewOf: (request) => {
          const pass = request.headers.get(PASS_HEADER);
          if (pass === null || !isPass(services.secrets.link.secret, pass, clock.nowMs())) return undefined;
          const { clientAddress, askedOrigin } = requestContextOf(request);
          const peer = host.peerOf(request);
          return {
            client: clientAddress,
            peer,
            isForwarded: isForwarded(request.headers),
            isTrusted: addresses.isTrusted(peer),
            origin: askedOrigin ?? null,
          };
        },
        openApi: () => {
          document ??= documentOf(app, config.publicUrl ?? (basePath === "" ? "/" : basePath));
          return document;
        },
      }),
    )
    .use(metricsRoutes({ services, whyNotReady, host }))
    .use(webRoutes({ basePath }));
  const app = router.plugin;
  const routes = routeTable(router);
  return { app, routes };
}

/** Pages of links work without script: where it can't be had (a build from source that failed), they go on without it. */
async function publicScriptOrNone(log: Log): Promise<readonly string[]> {
  try {
    return await publicScript();
  } catch (error) {
    log.error("Could not load the script of the public share pages; serving them without it.", { error });
    return [];
  }
}
