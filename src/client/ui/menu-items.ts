import type { LucideIcon } from "lucide-react";

/** What a menu offers: a deed, a link, one of a choice (`checked`), or a menu of its own. */
export interface MenuEntry {
  readonly label: string;
  readonly icon?: LucideIcon;
  readonly run?: () => void;
  /** An address to go to; the browser opens it as a link. */
  readonly href?: string;
  /** With `href`: the browser keeps it under this name in place of showing it. */
  readonly download?: string | boolean;
  readonly disabled?: boolean;
  readonly danger?: boolean;
  /** Keys that do the same, shown beside it. */
  readonly keys?: string;
  /** One of a choice: whether it is the one. */
  readonly checked?: boolean;
  readonly items?: readonly MenuItem[];
}

/** A line of a menu; null stands for a rule between groups. */
export type MenuItem = MenuEntry | null;

/** The lines of a menu; a function is asked when the menu opens. */
export type MenuItems = readonly MenuItem[] | (() => readonly MenuItem[]);
