import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { FailedItems, FileIds, Item } from "../files/model.ts";
import { ref } from "../../../http/documented.ts";
import { ItemRightsFields } from "../permissions/item-rights.ts";

/** POST /api/favorites */
export const FavoriteBody = t.Object({ ids: FileIds, favorite: t.Boolean() });

/** Response of POST /api/favorites. */
export const ChangedFavoritesRecord = {
  type: "object",
  required: ["changed", "failed"],
  properties: {
    changed: Type.Array(t.String(), { description: "Ids that now have the requested state" }),
    failed: FailedItems,
  },
};

/** A file or a folder. */
const FavoriteItem = {
  allOf: [
    Item,
    t.Object({
      isOwn: t.Boolean(),
      ...ItemRightsFields,
    }),
  ],
};

/** GET /api/favorites */
export const FavoritesRecord = {
  type: "object",
  required: ["favorites", "pagination"],
  properties: { favorites: { type: "array", items: FavoriteItem }, pagination: ref("Pagination") },
};
