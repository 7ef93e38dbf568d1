import { useMemo } from "react";
import { RotateCcw } from "lucide-react";
import type { Entry } from "../api/types.ts";
import type { MenuItem } from "../ui/menu-items.ts";
import type { Collection } from "./collection/use-collection.ts";
import type { GridColumn, GridColumns } from "./collection/grid-types.ts";
import { changeList, useListPreferences } from "./preferences.ts";
import type { ListKind, ListPreferences } from "./read-preferences.ts";
import { text } from "./text.ts";

/**
 * The columns of a list: those of the page that have values, as the person chose them on this device.
 * @param all every column that the list can have, in order; the same array in each render
 */
export function useColumns<T extends Entry>(
  kind: ListKind,
  all: readonly GridColumn<T>[],
  { pages: { first } }: Collection<T>,
): GridColumns<T> {
  const preferences = useListPreferences(kind);
  return useMemo(() => {
    // The first page decides, so that no column appears or disappears while the person scrolls.
    const entries = first?.entries ?? [];
    const isEmpty = ({ has }: GridColumn<T>) => has !== undefined && !entries.some((entry) => has(entry));
    return {
      shown: all.filter((column) => isChosen(column, preferences) && !isEmpty(column)),
      widths: preferences.widths,
      resize: (id, width) =>
        changeList(kind, ({ widths }) => ({ widths: { ...widths, [id]: Math.round(width * 100) / 100 } })),
      menu: () => menuOf(kind, all, preferences, isEmpty),
    };
  }, [kind, all, preferences, first]);
}

function isChosen<T extends Entry>({ id, isExtra = false }: GridColumn<T>, { columns }: ListPreferences): boolean {
  return columns[id] ?? !isExtra;
}

function menuOf<T extends Entry>(
  kind: ListKind,
  all: readonly GridColumn<T>[],
  preferences: ListPreferences,
  isEmpty: (column: GridColumn<T>) => boolean,
): MenuItem[] {
  const toggle = (column: GridColumn<T>) =>
    changeList(kind, ({ columns }) => ({ columns: { ...columns, [column.id]: !isChosen(column, preferences) } }));
  return [
    ...all.map((column) => ({
      label:
        isChosen(column, preferences) && isEmpty(column)
          ? text.columnEmpty({ name: column.header() })
          : column.header(),
      checked: isChosen(column, preferences),
      staysOpen: true,
      run: () => toggle(column),
    })),
    null,
    { label: text.resetColumns, icon: RotateCcw, run: () => changeList(kind, () => ({ columns: {}, widths: {} })) },
  ];
}
