import { AppError, notFound } from "../../../errors.ts";
import type { AppPasswordPrincipal } from "../../accounts/auth/principal.ts";
import type { Permissions } from "../../library/permissions/permissions.ts";
import { LONGEST_SIDE, type ThumbnailVariant } from "../../media/thumbnails/sizes.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import { say } from "../../../translations/say.ts";

/** Dependencies of {@link previewedFile}. */
export interface PreviewSources {
  readonly tree: Pick<TreeReader, "findById" | "isWithin">;
  readonly permissions: Pick<Permissions, "file">;
}

/**
 * The file with a number, if the app password can see it.
 * @param fileId `oc:fileid` of the file, or `oc:id`, which begins with it
 * @throws AppError not_found
 */
export function previewedFile(
  { tree, permissions }: PreviewSources,
  { user, appPassword: { folderId } }: AppPasswordPrincipal,
  fileId: string | undefined,
): FileNode {
  const digits = /^0*(\d{1,15})(?!\d)/.exec(fileId ?? "")?.[1];
  const node = digits === undefined ? undefined : tree.findById(Number(digits));
  if (node?.kind !== "file") throw notFound(say`This file was not found.`);
  const { node: file, isOwn } = permissions.file(user, node.publicId, "read");
  if (folderId === null) return file;
  if (!isOwn || !tree.isWithin(node, folderId)) throw notFound(say`This file was not found.`);
  return file;
}

/** The smallest variant that fills the size that a client asks for. @throws AppError invalid_field */
export function variantFor(x: string | undefined, y: string | undefined): ThumbnailVariant {
  const sides = [x, y].map((side) => (side === undefined ? 0 : Number(side)));
  if (sides.some((side) => !Number.isInteger(side))) {
    throw new AppError("invalid_field", say`x and y must be whole numbers of pixels.`, { field: "x" });
  }
  const longest = Math.max(...sides);
  if (longest <= 0) return "medium";
  const variants: readonly ThumbnailVariant[] = ["small", "medium"];
  return variants.find((variant) => LONGEST_SIDE[variant] >= longest) ?? "large";
}
