import type { ReactNode } from "react";
import type { Entry } from "../../api/types.ts";
import type { Store } from "../../base/store.ts";
import type { MenuItem } from "../../ui/menu-items.ts";
import type { SortOrder, ViewPreferences } from "../read-preferences.ts";

/** A column of the list, next to the name. */
export interface GridColumn<T extends Entry> {
  readonly id: string;
  readonly header: () => string;
  /** The width in rem, until the person chooses another one. */
  readonly width: number;
  /** The field that its header sorts by. */
  readonly sort?: string;
  /** Shown only if the person chose it. */
  readonly isExtra?: boolean;
  /** Whether an entry has a value. A column without any value is hidden. By default each entry has one. */
  has?(entry: T): boolean;
  render(entry: T): ReactNode;
}

/** A field that a list can be sorted by. */
export interface SortOption<F extends string = string> {
  readonly field: F;
  readonly label: () => string;
  /** The order when the field is chosen; ascending by default. */
  readonly order?: SortOrder;
}

/** The sort order of a list, and how to change it. */
export interface GridSort<F extends string = string> {
  readonly field: F;
  readonly order: SortOrder;
  readonly options: readonly SortOption<F>[];
  change(field: F, order: SortOrder): void;
}

/** The columns of a list, and how the person changes them. */
export interface GridColumns<T extends Entry> {
  /** The chosen columns that have values, in order. */
  readonly shown: readonly GridColumn<T>[];
  /** Widths in rem by the id of the column. */
  readonly widths: Readonly<Record<string, number>>;
  resize(id: string, width: number): void;
  /** The entries of the menu that chooses columns. */
  menu(): readonly MenuItem[];
}

/**
 * A name that is being edited in place. The draft belongs to the entry, because its row, and the field with it, may be
 * removed and rendered again when others change the list.
 */
export interface Renaming {
  readonly id: string;
  readonly draft: Store<NameDraft>;
  /**
   * Resolves when the entry is renamed.
   * @throws ApiError | OfflineError, whose message is shown at the field
   */
  save(entry: Entry, name: string): Promise<void>;
  end(): void;
}

/** The state of the name field. */
export interface NameDraft {
  /** The name at the start; removing it unchanged keeps the name. */
  readonly before: string;
  readonly name: string;
  readonly phase: "typing" | "saving" | "over";
  /** Why the name was rejected. */
  readonly error?: string | undefined;
  /** The selection in the field when it was last unmounted; undefined before the first time. */
  readonly caret?: Caret | undefined;
}

/** The selection in a field. */
interface Caret {
  readonly start: number;
  readonly end: number;
  readonly direction: "forward" | "backward" | "none";
}

/** How entries are shown. */
export interface GridDisplay<T extends Entry> {
  readonly layout: ViewPreferences["layout"];
  readonly density: ViewPreferences["density"];
  readonly columns: GridColumns<T>;
  /** A line below the name, on phones. */
  subtitle(entry: T): ReactNode;
  /** A short text below the name of a tile. */
  caption(entry: T): string;
  /** The name with highlighting; by default the plain name. */
  nameOf?(entry: T): ReactNode;
  /** A further line below the name in lists, whose rows are then higher: for some entries. */
  excerptOf?(entry: T): ReactNode;
  /** Shown in place of a thumbnail; by default the picture or the icon of the entry. */
  thumbnailOf?(entry: T, size: "small" | "medium"): ReactNode;
  readonly renaming?: Renaming | undefined;
  /** Ids of entries that were cut, until they are pasted. */
  readonly cut?: ReadonlySet<string>;
  /** Ids of entries that are being removed or renamed. */
  readonly removing: ReadonlySet<string>;
}

/** Below this width only the name is shown. */
export const NARROW_BELOW = 640;
