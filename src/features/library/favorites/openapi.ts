/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { ChangedFavoritesRecord, FavoritesRecord } from "./model.ts";

export const list = (): RouteDocs => ({
  tag: "Files",
  summary: "List your favorites",
  description:
    "Your own files and folders, and those shared with you, folders first. Favorites that are in the trash or " +
    "no longer shared with you are not listed until they return. Paths of shared items begin at the share.",
  data: FavoritesRecord,
  errors: ["invalid_field"],
});

export const change = (): RouteDocs => ({
  tag: "Files",
  summary: "Add or remove favorites",
  description:
    "1 to 1,000 files and folders per request, each processed separately. The request fails only if every item failed. " +
    "Nobody else sees your favorites, and they change neither the item nor its ETag. At most 100,000 per account.",
  data: ChangedFavoritesRecord,
  errors: ["invalid_field", "not_found", "quota_exceeded"],
});
