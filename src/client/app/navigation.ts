/** The places of the application, in the order in which navigation shows them. */
import { History, type LucideIcon } from "lucide-react";
import { Folder, Image, Settings, ShieldCheck, Share2, Trash2, UsersRound } from "../ui/icons.ts";
import type { Role } from "../api/types.ts";
import { words } from "./words.ts";

/** Where navigation leads. */
export type PlacePath =
  | "/files"
  | "/photos"
  | "/shared/with-me"
  | "/shared/by-me"
  | "/trash"
  | "/history"
  | "/settings"
  | "/admin";

/** A place that navigation leads to. */
export interface Place {
  readonly path: PlacePath;
  readonly label: string;
  readonly icon: LucideIcon;
}

/** The places of a person's own things. */
export function mainPlaces(): Place[] {
  return [
    { path: "/files", label: words.files, icon: Folder },
    { path: "/photos", label: words.photos, icon: Image },
    { path: "/shared/with-me", label: words.sharedWithMe, icon: UsersRound },
    { path: "/shared/by-me", label: words.sharedByMe, icon: Share2 },
    { path: "/trash", label: words.trash, icon: Trash2 },
    { path: "/history", label: words.history, icon: History },
  ];
}

/** The places for settings; administration for administrators alone. */
export function settingPlaces(role: Role): Place[] {
  return [
    { path: "/settings", label: words.settings, icon: Settings },
    ...(role === "admin" ? [{ path: "/admin", label: words.administration, icon: ShieldCheck } as const] : []),
  ];
}

/** Whether `pathname` (below the base path) is at a place or below it. */
export function isAt(pathname: string, place: PlacePath): boolean {
  return pathname === place || pathname.startsWith(`${place}/`);
}
