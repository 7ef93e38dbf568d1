import type { ReactNode } from "react";
import type { Entry } from "../../api/types.ts";
import type { Store } from "../../base/store.ts";
import type { SortField, ViewPreferences } from "../read-preferences.ts";

/** A column of the list, next to the name. */
export interface GridColumn<T extends Entry> {
  readonly id: string;
  readonly header: string;
  /** The width as a track of a CSS grid. */
  readonly track: string;
  /** The field that its header sorts by. */
  readonly sort?: SortField;
  render(entry: T): ReactNode;
}

/** The sort order of a list, and how to change it. */
export interface GridSort {
  readonly field: SortField;
  readonly order: "asc" | "desc";
  change(field: SortField, order: "asc" | "desc"): void;
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
  readonly columns: readonly GridColumn<T>[];
  /** A line below the name, on phones. */
  subtitle(entry: T): string;
  /** A short text below the name of a tile. */
  caption(entry: T): string;
  /** The name with highlighting; by default the plain name. */
  nameOf?(entry: T): ReactNode;
  readonly renaming?: Renaming | undefined;
  /** Ids of entries that are being removed or renamed. */
  readonly removing: ReadonlySet<string>;
}

/** Below this width only the name is shown. */
export const NARROW_BELOW = 640;
