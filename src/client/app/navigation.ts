/** The navigation items, in display order. */
import { BookImage, History, House, type LucideIcon } from "lucide-react";
import { Folder, Image, Settings, ShieldCheck, Share2, Star, Trash2, UsersRound } from "../ui/icons.ts";
import type { Role } from "../api/types.ts";
import { frameText } from "./text.ts";

/** Paths that the navigation links to. */
type NavPath =
  | "/home"
  | "/files"
  | "/photos"
  | "/albums"
  | "/favorites"
  | "/shared/with-me"
  | "/shared/by-me"
  | "/trash"
  | "/history"
  | "/settings"
  | "/admin";

/** A navigation link. */
export interface NavItem {
  readonly path: NavPath;
  readonly label: string;
  readonly icon: LucideIcon;
}

/** The links to the person's own files. */
export function mainNavItems(): NavItem[] {
  return [
    { path: "/home", label: frameText.home, icon: House },
    { path: "/files", label: frameText.files, icon: Folder },
    { path: "/photos", label: frameText.photos, icon: Image },
    { path: "/albums", label: frameText.albums, icon: BookImage },
    { path: "/favorites", label: frameText.favorites, icon: Star },
    { path: "/shared/with-me", label: frameText.sharedWithMe, icon: UsersRound },
    { path: "/shared/by-me", label: frameText.sharedByMe, icon: Share2 },
    { path: "/trash", label: frameText.trash, icon: Trash2 },
    { path: "/history", label: frameText.history, icon: History },
  ];
}

/** The links to the settings, and to the administration for administrators. */
export function settingsNavItems(role: Role): NavItem[] {
  return [
    { path: "/settings", label: frameText.settings, icon: Settings },
    ...(role === "admin" ? [{ path: "/admin", label: frameText.administration, icon: ShieldCheck } as const] : []),
  ];
}

/** Whether `pathname` (below the base path) is the page at `path` or a page below it. */
export function isAt(pathname: string, path: NavPath): boolean {
  return pathname === path || pathname.startsWith(`${path}/`);
}
