import { IconButton } from "./icon-button.tsx";
import { EllipsisVertical } from "./icons.ts";
import { Menu } from "./menu.tsx";
import type { MenuItems } from "./menu-items.ts";

/** The button with three dots that opens a menu of further actions. */
export function MoreMenu({ label, items }: { readonly label: string; readonly items: MenuItems }) {
  return (
    <Menu
      align="end"
      label={label}
      items={items}
      trigger={<IconButton label={label} icon={EllipsisVertical} hasTooltip={false} />}
    />
  );
}
