import type { LucideIcon } from "lucide-react";

/** A menu entry: an action, a link, a checkable option (`checked`), or a submenu. */
export interface MenuEntry {
  readonly label: string;
  readonly icon?: LucideIcon;
  readonly run?: () => void;
  /** An address to open as a link. */
  readonly href?: string;
  /** With `href`: downloads under this name. */
  readonly download?: string | boolean;
  readonly disabled?: boolean;
  /** Shown below the label, for example why the entry is disabled. */
  readonly hint?: string;
  readonly danger?: boolean;
  /** The shortcut for the same action, shown next to the label. */
  readonly keys?: string;
  /** For options: whether it is the selected one. */
  readonly checked?: boolean;
  /** For options: the menu stays open, so that several can be changed. */
  readonly staysOpen?: boolean;
  readonly items?: readonly MenuItem[];
}

/** A line of a menu; null is a separator. */
export type MenuItem = MenuEntry | null;

/** The lines of a menu. A function is called when the menu opens. */
export type MenuItems = readonly MenuItem[] | (() => readonly MenuItem[]);
