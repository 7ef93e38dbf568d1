import { ok } from "../../../http/envelope.ts";
import { requestLanguage } from "../../../http/language.ts";
import { normalizePath } from "../../../lib/path.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { CHANGE_FILES } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { readTime } from "./listing.ts";
import { RestoreBody } from "./model.ts";
import { presentRestore } from "./present.ts";
import type { HistoryService } from "./service.ts";

/** Dependencies of {@link historyRoutes}. */
export interface HistoryRoutesOptions {
  readonly history: HistoryService;
  readonly guard: ReturnType<typeof authGuard>;
  /** Disables the idle timeout of a request. */
  readonly allowLong: (request: Request) => void;
}

/** POST /api/files/restore. GET /api/files with `at` shows the history. */
export function historyRoutes({ history, guard, allowLong }: HistoryRoutesOptions) {
  return new Router({ prefix: "/api/files", guard }).post(
    "/restore",
    {
      ...CHANGE_FILES,
      audit: { action: "folder.restore", files: "changes" },
      docs: docs.restore,
      body: RestoreBody,
    },
    async ({ principal, body, request }) => {
      allowLong(request);
      const restoreRequest = {
        folderPath: normalizePath(body.folder),
        atMs: readTime(body.at),
        isDryRun: body.dryRun ?? false,
        removesNew: body.removeNew ?? false,
        isPartial: body.partial ?? false,
      };
      const result = await history.restore(principal.user, restoreRequest);
      const record = presentRestore(restoreRequest, result, requestLanguage(request));
      return ok(record, restoreRequest.isDryRun ? "Preview only: nothing was changed." : "The folder was restored.");
    },
  );
}
