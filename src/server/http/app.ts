/** The table of contents of the API: guards and routes, in the order in which they handle a request. */
import { accountsRoutes } from "../../features/accounts/routes.ts";
import { authenticateFirst, authGuard, type AuthGuardOptions, findSignIn } from "../../features/accounts/auth/guard.ts";
import { sessionCookies } from "../../features/accounts/auth/routes.ts";
import { signInMethods } from "../../features/accounts/oidc/sign-in-methods.ts";
import { rateLimitGuard } from "../../features/accounts/rate-limits/guard.ts";
import { Router, routeTable } from "../../features/accounts/routing/router.ts";
import { administrationRoutes } from "../../features/administration/routes.ts";
import { clientsRoutes } from "../../features/clients/routes.ts";
import { libraryRoutes } from "../../features/library/routes.ts";
import { messagingRoutes } from "../../features/messaging/routes.ts";
import { mobileRoutes } from "../../features/mobile/routes.ts";
import { sharingRoutes } from "../../features/sharing/routes.ts";
import { shareHeaders } from "../../features/sharing/shares/share-requests.ts";
import { storageRoutes } from "../../features/storage/routes.ts";
import { uploadsRoutes } from "../../features/uploads/routes.ts";
import { tusHeaders } from "../../features/uploads/tus/tus-requests.ts";
import { notConfirmed } from "../../features/storage/replication/fence.ts";
import type { DeclaredRoute } from "../../features/accounts/routing/declaration.ts";
import {
  base,
  type BaseOptions,
  beginRequest,
  changeGate,
  gate,
  respondInstead,
  respondToFailure,
} from "../../http/base.ts";
import type { RouteTable } from "../../http/route-table.ts";
import { requestContextOf } from "../../http/request-context.ts";
import { ClientAddresses } from "../../http/client-address.ts";
import { type PageScripts, publicScript } from "../../web/bundle/client-files.ts";
import { webRoutes } from "../../web/routes.ts";
import type { Services } from "../composition/services.ts";
import { availableBytes, totalBytes } from "../data/filesystem.ts";
import { baseOptions } from "./base-options.ts";
import { renewReads, shareReads } from "../../db/shared-reads.ts";
import { acknowledges } from "./confirm-changes.ts";
import { readHealth, healthRoutes, readiness } from "./health.ts";
import { type AppHost, NO_HOST } from "./host.ts";
import { metricsRoutes } from "./metrics.ts";
import { generateDocument } from "./openapi.ts";
import { publicViews } from "./public-view.ts";

/** The whole application over the given services. */
export function createApp(services: Services, host: AppHost = NO_HOST) {
  const { auth, config, log, paths, rateGate } = services;
  const { basePath } = config;
  const addresses = new ClientAddresses(config.trustedProxies, log, config.socket !== null);
  const guard = authGuard();
  const options = baseOptions(services, host, addresses, () => routes);
  const whyNotReady = readiness(services, host);
  const methodsAt = signInMethods(services);
  let document: Promise<unknown> | undefined;
  const context = {
    ...services,
    guard,
    methodsAt,
    cookies: sessionCookies(basePath === "" ? "/" : basePath, config.tokenLifetimeMs),
    allowLong: (request: Request) => host.allowLong(request),
    onSetUp: (use: "household" | "accounts") => host.onSetUp(use),
    scripts: (language: string) => publicScriptOrNone(services, "share", language),
    welcomeScripts: (language: string) => publicScriptOrNone(services, "welcome", language),
    setupScripts: (language: string) => publicScriptOrNone(services, "setup", language),
    jobs: { list: () => host.listJobs(), run: (name: string) => host.runJob(name) },
    disk: { freeBytes: () => availableBytes(paths.blobs), totalBytes: () => totalBytes(paths.blobs) },
    webDav: { ...services.webDav, allowLong: (request: Request) => host.allowLong(request) },
    health: () => readHealth(services, { notReady: whyNotReady(), certificateEndsAtMs: host.certificateEndsMs() }),
    configuration: () => services.settings.configuration(),
  };
  const mayChange = (request: Request) => mayChangeBy(routes, request);
  const router = new Router()
    // Gives every request its id, and turns every error into a response. First, so that it handles the guards' errors.
    .hook(base(options))
    // Adds headers that rejections by the guards below must have too.
    .hook(shareHeaders())
    .hook(tusHeaders())
    // Authenticates before the rate limits: they count per account.
    .hook(guard)
    .hook(rateLimitGuard(rateGate, (method, path) => routes.find(method, path)?.declaration.rate))
    // Rejects requests while the server can't serve them: last, so that its responses have all headers.
    .hook(gates(host, mayChange))
    .use(...accountsRoutes(context))
    .use(...libraryRoutes(context))
    .use(...sharingRoutes(context))
    .use(...uploadsRoutes(context))
    .use(...storageRoutes(context))
    .use(...messagingRoutes(context))
    .use(...mobileRoutes(context))
    .use(...clientsRoutes(context))
    .use(...administrationRoutes(context))
    .use(
      healthRoutes({
        whyNotReady,
        readPublicView: publicViews(services, host, addresses),
        openApi: () => {
          document ??= generateDocument(app, config.publicUrl ?? (basePath === "" ? "/" : basePath));
          return document;
        },
      }),
    )
    .use(metricsRoutes({ services, whyNotReady, host }))
    .use(
      webRoutes({
        basePath,
        methodsAt,
        isSignedIn: async (request) => (await findSignIn(auth, request)) !== undefined,
      }),
    );
  const app = router.plugin;
  const routes = routeTable(router);
  return { app, routes, mayChange, ...aroundApp(options, authGuardOptions(services, host)) };
}

/** Whether the response to a request acknowledges a change. */
function mayChangeBy(routes: RouteTable<DeclaredRoute>, request: Request): boolean {
  const { method } = request;
  return acknowledges(routes.find(method, requestContextOf(request).path), method);
}

/** Rejects all requests while the server stops or is overloaded, and changes that could not be confirmed. */
function gates(host: AppHost, mayChange: (request: Request) => boolean) {
  const { fence } = host;
  if (fence === undefined) return gate(host);
  return gate(host).use(changeGate(mayChange, () => (fence.problem === undefined ? undefined : notConfirmed())));
}

/** What happens to a request before and after the application. */
function aroundApp(options: BaseOptions, guardOptions: AuthGuardOptions) {
  return {
    /** Call it before the application receives a request, which must wait for the promise if there is one. */
    begin: (request: Request) => {
      beginRequest(options, request);
      return authenticateFirst(guardOptions, request);
    },
    /** The response to an error that the application did not catch. */
    respondToFailure: (request: Request, error: unknown) => respondToFailure(options, request, error),
    /** The response to an error that replaces the response of the application. */
    respondInstead: (request: Request, error: unknown) => respondInstead(options, request, error),
  };
}

function authGuardOptions({ auth, apiKeys, appPasswords, config, db }: Services, host: AppHost): AuthGuardOptions {
  return {
    auth,
    apiKeys,
    appPasswords,
    corsOrigins: config.corsOrigins,
    noticeChanges: () => host.noticeChanges(),
    shareReads: () => shareReads(db.sqlite),
    renewReads: () => renewReads(db.sqlite),
  };
}

/**
 * The script of the pages of public links. Without it, for example after a failed build from source, they still work.
 */
async function publicScriptOrNone(
  { log }: Pick<Services, "log">,
  page: "share" | "welcome" | "setup",
  language: string,
): Promise<PageScripts> {
  try {
    return await publicScript(page, language);
  } catch (error) {
    log.error("Could not load the script of a public page; serving it without.", { error });
    return { scripts: [], texts: undefined };
  }
}
