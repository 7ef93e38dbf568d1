import type { LinkProps } from "@tanstack/react-router";
import { BookImage, FolderSymlink, type LucideIcon } from "lucide-react";
import { Folder } from "../../ui/icons.ts";
import { folderParam } from "../folder-address.ts";
import type { Destination } from "../actions/bulk.ts";
import type { Pin } from "./api.ts";

/** Where a pin leads. */
export function linkTo({ type, id, path = "/", share }: Pin): Pick<LinkProps, "to" | "params" | "search"> {
  if (type === "album") return { to: "/albums/$albumId", params: { albumId: id } };
  if (share !== undefined) return { to: "/shared/with-me", search: { share, path } };
  return { to: "/files/$", params: { _splat: folderParam(path) } };
}

/** The icon of a pin. */
export function iconOf({ type, owner }: Pin): LucideIcon {
  return type === "album" ? BookImage : owner === null ? Folder : FolderSymlink;
}

/** The own folder that entries can be dropped on; undefined for others. */
export function dropFolderOf({ type, share, path }: Pin): Destination | undefined {
  return type === "folder" && share === undefined && path !== undefined ? { folder: path } : undefined;
}
