import { invalidField } from "../../../errors.ts";
import { ok } from "../../../http/envelope.ts";
import { IdParams, queryOf, readInteger } from "../../../http/fields.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { READ_FILES } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import type { FavoriteService } from "../favorites/service.ts";
import { presentContextOf, presentFileItem } from "../files/present.ts";
import type { ShareMarks } from "../marks/share-marks.ts";
import * as docs from "./openapi.ts";
import type { RecentFiles } from "./service.ts";
import type { RecentPosition } from "./types.ts";

/** Dependencies of {@link recentRoutes}. */
export interface RecentRoutesOptions {
  readonly recent: RecentFiles;
  readonly guard: ReturnType<typeof authGuard>;
  readonly hasThumbnail: (file: FileNode) => boolean;
  /** Finds the nodes that the caller marked. */
  readonly favorites: Pick<FavoriteService, "among">;
  readonly shareMarks: Pick<ShareMarks, "among">;
}

/** GET /api/files/recent, POST /api/files/{id}/opened */
export function recentRoutes({ recent, guard, hasThumbnail, favorites, shareMarks }: RecentRoutesOptions) {
  return new Router({ prefix: "/api/files", guard })
    .get("/recent", { ...READ_FILES, rate: "listing", docs: docs.list }, ({ principal, request }) => {
      const query = queryOf(request);
      const limit = readInteger(query, "limit", { min: 1, max: 100, default: 20 });
      const { files, next } = recent.list(principal.user, limit, readCursor(query["cursor"]));
      const nodes = files.map(({ file }) => file);
      const marks = [favorites.among(principal.user, nodes), shareMarks.among(principal.user, nodes)] as const;
      const context = presentContextOf(request, hasThumbnail, ...marks);
      return ok({
        files: files.map(({ file, kind, atMs, ...rights }) => ({
          ...presentFileItem(file, context),
          activity: kind,
          activityAt: toTimestamp(atMs),
          ...rights,
        })),
        nextCursor: next === undefined ? null : `${next.seq}-${next.openedAtMs}-${next.openedThen}`,
      });
    })
    .post(
      "/:id/opened",
      { ...READ_FILES, docs: docs.opened, params: IdParams, acknowledges: false },
      ({ principal, params }) => {
        recent.noteOpened(principal.user, params.id);
        return ok({});
      },
    );
}

/** @throws AppError invalid_field */
function readCursor(text: string | undefined): RecentPosition | undefined {
  if (text === undefined || text === "") return undefined;
  const [, seq, openedAtMs, openedThen] = /^(\d{1,16})-(\d{1,16})-(\d{1,4})$/.exec(text) ?? [];
  if (seq === undefined || openedAtMs === undefined || openedThen === undefined) {
    throw invalidField("cursor", say`This cursor is invalid. Use nextCursor of the page before.`);
  }
  return { seq: Number(seq), openedAtMs: Number(openedAtMs), openedThen: Number(openedThen) };
}
