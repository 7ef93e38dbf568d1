/** The shared folders above a file or folder: their shares cover it too, although lists mark only the folders. */
import type { TreeReader } from "../../../tree/reader.ts";
import type { FolderNode } from "../../../tree/model/types.ts";
import type { User } from "../../accounts/users/types.ts";
import type { ShareMark, ShareMarks } from "../../library/marks/share-marks.ts";
import type { Permissions } from "../../library/permissions/permissions.ts";

/** Dependencies of {@link coveringFolders}. */
export interface CoveringFoldersOptions {
  readonly permissions: Pick<Permissions, "node">;
  readonly tree: TreeReader;
  readonly shareMarks: Pick<ShareMarks, "among">;
}

/** The folders above a node that its owner shares, the nearest first. @throws AppError not_found | share_permission */
export function coveringFolders(
  { permissions, tree, shareMarks }: CoveringFoldersOptions,
  user: User,
  publicId: string,
): { readonly folder: FolderNode; readonly mark: ShareMark }[] {
  const above: FolderNode[] = [];
  let { parentId } = permissions.node(user, publicId, "own").node;
  while (parentId !== null) {
    const folder = tree.findById(parentId);
    if (folder?.kind !== "folder") break;
    above.push(folder);
    ({ parentId } = folder);
  }
  const marks = shareMarks.among(user, above);
  return above.flatMap((folder) => {
    const mark = marks.get(folder.id);
    return mark === undefined ? [] : [{ folder, mark }];
  });
}
