import { LayoutGrid, List, SlidersHorizontal } from "lucide-react";
import { IconButton } from "../ui/icon-button.tsx";
import { Menu } from "../ui/menu.tsx";
import type { MenuItem } from "../ui/menu-items.ts";
import type { GridSort } from "./collection/grid-types.ts";
import { useViewPreferences } from "./preferences.ts";
import { text } from "./text.ts";

/** Buttons for the view: list or tiles, density, and (if the page sorts) the sort order. */
export function ViewOptions({
  sort,
  hasTiles = true,
}: {
  readonly sort?: GridSort | undefined;
  /** False for lists without pictures. */
  readonly hasTiles?: boolean;
}) {
  const [{ layout, density }, change] = useViewPreferences();
  const items = (): MenuItem[] => [
    { label: text.comfortable, checked: density === "comfortable", run: () => change({ density: "comfortable" }) },
    { label: text.compact, checked: density === "compact", run: () => change({ density: "compact" }) },
    ...(sort === undefined ? [] : [null, ...sortItems(sort)]),
  ];
  const isList = layout === "list";
  return (
    <>
      {hasTiles && (
        <IconButton
          label={isList ? text.asTiles : text.asList}
          icon={isList ? LayoutGrid : List}
          onClick={() => change({ layout: isList ? "tiles" : "list" })}
        />
      )}
      <Menu
        align="end"
        trigger={<IconButton label={text.viewMenu} icon={SlidersHorizontal} hasTooltip={false} />}
        items={items}
      />
    </>
  );
}

/** The entries of a menu that sorts a list. */
export function sortItems({ field, order, options, change }: GridSort): MenuItem[] {
  return [
    ...options.map((option) => ({
      label: text.sortByField({ label: option.label() }),
      checked: field === option.field,
      run: () => change(option.field, option.order ?? "asc"),
    })),
    null,
    { label: text.ascending, checked: order === "asc", run: () => change(field, "asc") },
    { label: text.descending, checked: order === "desc", run: () => change(field, "desc") },
  ];
}
