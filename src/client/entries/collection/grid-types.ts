import type { ReactNode } from "react";
import type { Entry } from "../../api/types.ts";
import type { Store } from "../../base/store.ts";
import type { SortField, ViewPreferences } from "../read-preferences.ts";

/** A column of the list, beside the name. */
export interface GridColumn<T extends Entry> {
  readonly id: string;
  readonly header: string;
  /** Width as a track of a CSS grid. */
  readonly track: string;
  /** What its header sorts by. */
  readonly sort?: SortField;
  render(entry: T): ReactNode;
}

/** How a list is sorted, and how that is changed. */
export interface GridSort {
  readonly field: SortField;
  readonly order: "asc" | "desc";
  change(field: SortField, order: "asc" | "desc"): void;
}

/**
 * A name that is being changed in place. What is typed is kept here, by the entry: its row, and the field with it, may go
 * and come again as others change the list.
 */
export interface Renaming {
  readonly id: string;
  readonly draft: Store<NameDraft>;
  /** Resolves when the name is changed. @throws ApiError | OfflineError, whose words are shown at the field */
  save(entry: Entry, name: string): Promise<void>;
  end(): void;
}

/** What is typed as the name of an entry. */
export interface NameDraft {
  /** The name at the beginning: who has not changed that leaves the name as it is. */
  readonly before: string;
  readonly name: string;
  readonly phase: "typing" | "saving" | "over";
  /** Why it was refused, in words. */
  readonly error?: string | undefined;
  /** What was selected in the field when it last went; undefined before it is first there. */
  readonly caret?: Caret | undefined;
}

/** What is selected in a field. */
export interface Caret {
  readonly start: number;
  readonly end: number;
  readonly direction: "forward" | "backward" | "none";
}

/** How entries look. */
export interface GridLook<T extends Entry> {
  readonly layout: ViewPreferences["layout"];
  readonly density: ViewPreferences["density"];
  readonly columns: readonly GridColumn<T>[];
  /** A line below the name, on phones. */
  subtitle(entry: T): string;
  /** A few words below the name of a tile. */
  caption(entry: T): string;
  /** The name with whatever marks it; by default as it is. */
  nameOf?(entry: T): ReactNode;
  readonly renaming?: Renaming | undefined;
  /** What is on its way out, or will be called otherwise in a moment. */
  readonly leaving: ReadonlySet<string>;
}

/** Below this width there is room for the name alone. */
export const NARROW_BELOW = 640;
