import { isExhausted, translateDiskError } from "../../blobs/disk.ts";
import { isDamage, translateSqliteError } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { categoryOf } from "../../features/accounts/rate-limits/categories.ts";
import type { DeclaredRoute } from "../../features/accounts/routing/declaration.ts";
import { noteAudit } from "../../http/audit-note.ts";
import type { BaseOptions } from "../../http/base.ts";
import { renderClientError } from "../../features/clients/error-sender.ts";
import type { ClientAddresses } from "../../http/client-address.ts";
import { requestContextOf } from "../../http/request-context.ts";
import type { RouteTable } from "../../http/route-table.ts";
import { renderErrorPage } from "../../web/pages/error-page.ts";
import { pageFrame, pageResponse } from "../../web/pages/page.ts";
import type { Services } from "../composition/services.ts";
import type { AppHost } from "./host.ts";

/**
 * Defines how errors become responses, and where requests come from.
 * @param routes all routes; called only for requests
 */
export function baseOptions(
  { config, log, rateGate, writer }: Services,
  host: AppHost,
  addresses: ClientAddresses,
  routes: () => RouteTable<DeclaredRoute>,
): BaseOptions {
  const { basePath } = config;
  return {
    log,
    corsOrigins: config.corsOrigins,
    methodsOf: (path) => routes().methodsOf(path),
    renderErrorPage: (request, status, message) =>
      pageResponse(renderErrorPage(pageFrame(request, basePath), status, message), status),
    renderClientError,
    translate: (error) => {
      if (isExhausted(error)) return translateDiskError(error);
      const cause = error instanceof AppError ? error.cause : error;
      if (isDamage(cause)) writer.noteDamage(String(cause));
      return translateSqliteError(error);
    },
    onFailure: (request, error, headers) => {
      rateGate.showBodyLimit(error, headers);
      const { path, query } = requestContextOf(request);
      const rule = routes().find(request.method, path)?.declaration.rate;
      host.requests.noteFailure(error instanceof AppError ? error.reason : "unexpected", categoryOf(rule, path, query));
      if (error instanceof AppError) noteAudit(request, { reason: error.reason });
    },
    addresses,
    publicUrl: config.publicUrl ?? undefined,
    basePath,
    isTls: config.tls.certFile !== null,
    peerOf: (request) => host.peerOf(request),
    keepOpen: (request) => host.keepOpen(request),
    bodies: host.bodies,
  };
}
