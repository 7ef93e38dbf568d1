import { LayoutGrid, List, SlidersHorizontal } from "lucide-react";
import { IconButton } from "../ui/icon-button.tsx";
import { Menu } from "../ui/menu.tsx";
import type { MenuItem } from "../ui/menu-items.ts";
import { useViewPreferences } from "./preferences.ts";
import type { SortField } from "./read-preferences.ts";
import { text } from "./text.ts";

/** Buttons for the view: list or tiles, density, and (if the page sorts) the sort order. */
export function ViewOptions({ hasSort = true }: { readonly hasSort?: boolean }) {
  const [{ layout, density, sort, order }, change] = useViewPreferences();
  const sorts: readonly (readonly [SortField, string])[] = [
    ["name", text.name],
    ["modifiedAt", text.modified],
    ["createdAt", text.created],
    ["size", text.size],
  ];
  const items = (): MenuItem[] => [
    { label: text.comfortable, checked: density === "comfortable", run: () => change({ density: "comfortable" }) },
    { label: text.compact, checked: density === "compact", run: () => change({ density: "compact" }) },
    ...(hasSort
      ? [
          null,
          ...sorts.map(([field, label]) => ({
            label: `${text.sortBy}: ${label}`,
            checked: sort === field,
            run: () => change({ sort: field }),
          })),
          null,
          { label: text.ascending, checked: order === "asc", run: () => change({ order: "asc" }) },
          { label: text.descending, checked: order === "desc", run: () => change({ order: "desc" }) },
        ]
      : []),
  ];
  const isList = layout === "list";
  return (
    <>
      <IconButton
        label={isList ? text.asTiles : text.asList}
        icon={isList ? LayoutGrid : List}
        onClick={() => change({ layout: isList ? "tiles" : "list" })}
      />
      <Menu
        align="end"
        trigger={<IconButton label={text.viewMenu} icon={SlidersHorizontal} hasTooltip={false} />}
        items={items}
      />
    </>
  );
}
