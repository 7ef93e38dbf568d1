/** What the caller may do with an item, for lists that have items of others too. */
import { t } from "elysia";
import type { TreeNode } from "../../../tree/model/types.ts";
import type { PermittedNode } from "./permissions.ts";

/** See {@link ItemRightsFields}. */
export interface ItemRights {
  readonly permission: "own" | "write" | "read";
  readonly canManage: boolean;
  readonly showsVersions: boolean;
  readonly share: string | undefined;
}

/** The rights to one's own items. */
export const OWN_ITEM: ItemRights = { permission: "own", canManage: true, showsVersions: true, share: undefined };

/** The fields of such a list's items in the OpenAPI document. */
export const ItemRightsFields = {
  permission: t.String({ enum: ["own", "write", "read"], description: "write, read: it is shared with you" }),
  canManage: t.Boolean({ description: "Whether you may rename, move and delete it" }),
  showsVersions: t.Boolean({ description: "Whether you may see its earlier versions" }),
  share: t.Optional(t.String({ description: "Id of the received share to which its paths are relative" })),
};

export function itemRightsOf(
  permitted: Pick<PermittedNode<TreeNode>, "isOwn" | "canWrite" | "canManage" | "showsVersions" | "share">,
): ItemRights {
  const { isOwn, canWrite, canManage, showsVersions, share } = permitted;
  return isOwn ? OWN_ITEM : { permission: canWrite ? "write" : "read", canManage, showsVersions, share };
}
