/** The JSON records of search results and suggestions. */
import { AppError } from "../../../errors.ts";
import type { FileNode, TreeNode } from "../../../tree/model/types.ts";
import type { User } from "../../accounts/users/types.ts";
import { type PresentContext, presentItem } from "../files/present.ts";
import { type ItemRights, itemRightsOf, OWN_ITEM } from "../permissions/item-rights.ts";
import type { Permissions } from "../permissions/permissions.ts";
import type { TextMatch } from "../text-index/types.ts";

/** A hit as the caller may see it. */
export interface SeenHit {
  readonly node: TreeNode;
  readonly rights: ItemRights;
  /** Of a hit of others. */
  readonly owner: User | undefined;
}

/** The hits that the caller may see now, with the caller's paths: shares may have ended since the search began. */
export function seeHits(permissions: Permissions, user: User, nodes: readonly TreeNode[]): SeenHit[] {
  return nodes.flatMap((node): SeenHit[] => {
    if (node.accountId === user.id) return [{ node, rights: OWN_ITEM, owner: undefined }];
    try {
      const seen = permissions.node(user, node.publicId, "read");
      // Albums are not searched.
      if (seen.share === undefined) return [];
      return [{ node: seen.node, rights: itemRightsOf(seen), owner: seen.owner }];
    } catch (error) {
      if (error instanceof AppError && error.reason === "not_found") return [];
      throw error;
    }
  });
}

/** A hit, with where its text contains the words. */
export function presentHit({ node, rights, owner }: SeenHit, match: TextMatch | undefined, context: PresentContext) {
  return {
    ...presentItem(node, context),
    ...rights,
    owner: presentOwner(owner),
    matches: match && [{ kind: "content" as const, snippet: match.parts, page: match.page }],
  };
}

function presentOwner(owner: SeenHit["owner"]) {
  return owner && { id: owner.publicId, name: owner.name };
}

/** A suggested file or folder. */
export function presentSuggestedNode({ node, rights, owner }: SeenHit) {
  return {
    kind: node.kind,
    text: node.name,
    mimeType: node.kind === "file" ? node.mediaType : undefined,
    id: node.publicId,
    folder: node.folder,
    path: node.kind === "folder" ? node.path : undefined,
    share: rights.share,
    owner: presentOwner(owner),
  };
}

/** Whether a hit can have a text. */
export function isFileHit(hit: SeenHit): hit is SeenHit & { readonly node: FileNode } {
  return hit.node.kind === "file";
}
