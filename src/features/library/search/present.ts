/** The JSON records of search results and suggestions. */
import { AppError } from "../../../errors.ts";
import type { FileNode, TreeNode } from "../../../tree/model/types.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { User } from "../../accounts/users/types.ts";
import { type PresentContext, presentItem } from "../files/present.ts";
import type { SharedRoot } from "../permissions/grants.ts";
import type { Permissions } from "../permissions/permissions.ts";
import type { TextMatch } from "../text-index/types.ts";

/** A hit as the caller may see it. */
export interface SeenHit {
  readonly node: TreeNode;
  /** For hits of others: the share that the paths are below, and the owner. */
  readonly from: { readonly share: string; readonly owner: User } | undefined;
}

/** Checks what the caller may see of hits, right before they are shown. */
export class HitViewer {
  readonly #permissions: Permissions;
  readonly #tree: Pick<TreeReader, "isWithin" | "findById">;

  constructor(permissions: Permissions, tree: Pick<TreeReader, "isWithin" | "findById">) {
    this.#permissions = permissions;
    this.#tree = tree;
  }

  /** The hits that the caller may see now, with the caller's paths. */
  see(user: User, nodes: readonly TreeNode[], received: readonly SharedRoot[]): SeenHit[] {
    return nodes.flatMap((node): SeenHit[] => {
      if (node.accountId === user.id) return [{ node, from: undefined }];
      const share = this.#outermostShare(node, received);
      if (share === undefined) return [];
      const seen = this.#seeReceived(user, node);
      return seen === undefined ? [] : [{ node: seen.node, from: { share, owner: seen.owner } }];
    });
  }

  #seeReceived(user: User, node: TreeNode) {
    try {
      return this.#permissions.node(user, node.publicId, "read");
    } catch (error) {
      // The share has ended since the search began.
      if (error instanceof AppError && error.reason === "not_found") return undefined;
      throw error;
    }
  }

  /** The paths that the caller sees begin at the outermost of the shares above a node. */
  #outermostShare(node: TreeNode, received: readonly SharedRoot[]): string | undefined {
    let outermost: SharedRoot | undefined;
    for (const root of received) {
      if (root.accountId !== node.accountId || !this.#tree.isWithin(node, root.nodeId)) continue;
      const former = outermost && this.#tree.findById(outermost.nodeId);
      if (former === undefined || this.#tree.isWithin(former, root.nodeId)) outermost = root;
    }
    return outermost?.share;
  }
}

/** A hit, with where its text contains the words. */
export function presentHit({ node, from }: SeenHit, match: TextMatch | undefined, context: PresentContext) {
  return {
    ...presentItem(node, context),
    share: from?.share,
    owner: presentOwner(from),
    matches: match && [{ kind: "content" as const, snippet: match.parts, page: match.page }],
  };
}

function presentOwner(from: SeenHit["from"]) {
  return from && { id: from.owner.publicId, name: from.owner.name };
}

/** A suggested file or folder. */
export function presentSuggestedNode({ node, from }: SeenHit) {
  return {
    kind: node.kind,
    text: node.name,
    mimeType: node.kind === "file" ? node.mediaType : undefined,
    id: node.publicId,
    folder: node.folder,
    path: node.kind === "folder" ? node.path : undefined,
    share: from?.share,
    owner: presentOwner(from),
  };
}

/** Whether a hit can have a text. */
export function isFileHit(hit: SeenHit): hit is SeenHit & { readonly node: FileNode } {
  return hit.node.kind === "file";
}
