import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { FailedItems, FileIds, Item } from "../files/model.ts";
import { ref } from "../../../http/documented.ts";

/** POST /api/favorites */
export const FavoriteBody = t.Object({ ids: FileIds, favorite: t.Boolean() });

/** Response of POST /api/favorites. */
export const ChangedFavoritesRecord = {
  type: "object",
  required: ["changed", "failed"],
  properties: {
    changed: Type.Array(t.String(), { description: "Ids that have the requested mark now" }),
    failed: FailedItems,
  },
};

/** GET /api/favorites */
export const FavoritesRecord = {
  type: "object",
  required: ["favorites", "pagination"],
  properties: { favorites: { type: "array", items: Item }, pagination: ref("Pagination") },
};
