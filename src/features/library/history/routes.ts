import { Elysia } from "elysia";
import { documented } from "../../../http/documented.ts";
import { ok } from "../../../http/envelope.ts";
import { normalizePath } from "../../../lib/path.ts";
import { type authGuard, takesJson } from "../../accounts/auth/guard.ts";
import { readAt } from "./listing.ts";
import { RestoreBody, RestoreRecord } from "./model.ts";
import { presentRestore } from "./present.ts";
import { type HistoryService, RESTORE_CHANGES_MAX } from "./service.ts";

/** What the routes of the time machine work with. */
export interface HistoryRoutesOptions {
  readonly history: HistoryService;
  readonly guard: ReturnType<typeof authGuard>;
  /** Lets a request take as long as it needs. */
  readonly allowLong: (request: Request) => void;
}

/** POST /api/files/restore; looking at the past is GET /api/files with `at`. */
export function historyRoutes({ history, guard, allowLong }: HistoryRoutesOptions) {
  return new Elysia({ name: "history-routes", prefix: "/api/files" }).use(guard).post(
    "/restore",
    async ({ principal, body, request }) => {
      allowLong(request);
      const asked = {
        folderPath: normalizePath(body.folder),
        atMs: readAt(body.at),
        isDryRun: body.dryRun ?? false,
        removesNew: body.removeNew ?? false,
        isPartial: body.partial ?? false,
      };
      const record = presentRestore(asked, await history.restore(principal.user, asked));
      return ok(record, asked.isDryRun ? "Nothing was changed yet." : "The folder was brought back.");
    },
    {
      ...takesJson("writer", RestoreBody),
      ...documented({
        takesJson: true,
        tag: "Versions",
        summary: "Bring a folder back to a moment",
        description:
          "With everything below it, in short steps between other requests. It does not start if the quota is too small for " +
          "all of it. If it ends early (the server stopped, for instance), the finished steps stay, and the same call " +
          "continues. Contents that have changed come back as new versions, names and places are " +
          "put back, what is in the trash comes out of it, and what a device deleted is made again (with a new id, as " +
          "long as its bytes are in the store). Nothing is destroyed: what stands in the way is renamed, and what is new " +
          "stays, or goes into the trash with removeNew. What a person deleted for good stays deleted, and so do labels " +
          "as they are now. A dry run answers the same and changes nothing. One's own files only, at most " +
          `${RESTORE_CHANGES_MAX} changes a call.`,
        access: "writer",
        data: RestoreRecord,
        errors: [
          "invalid_field",
          "invalid_path",
          "path_too_long",
          "invalid_request",
          "not_found",
          "quota_exceeded",
          "overloaded",
        ],
      }),
    },
  );
}
