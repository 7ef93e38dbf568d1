import { cloneElement, type MouseEvent, type ReactElement, Suspense, useState } from "react";
import { lazyPart } from "./lazy-part.ts";
import type { MenuItem, MenuItems } from "./menu-items.ts";
import type { MenuAnchor } from "./menu-popup.tsx";
import { whenUsed } from "../base/when-used.ts";
import { uiText } from "./text.ts";

interface OpenMenu {
  readonly isOpen: boolean;
  readonly anchor: MenuAnchor;
  readonly items: readonly MenuItem[];
  readonly returnFocus: HTMLElement | null;
}

const MenuPopup = lazyPart(() => import("./menu-popup.tsx").then((part) => part.MenuPopup));
whenUsed(() => void MenuPopup.preload());

// Attributes that the trigger is cloned with. Its own handlers are called first.
type Trigger = ReactElement<{ onClick?: ((event: MouseEvent<HTMLElement>) => void) | undefined }>;
type Area = ReactElement<{ onContextMenu?: ((event: MouseEvent<HTMLElement>) => void) | undefined }>;

/** A menu that a button opens. `trigger` is that button; its own `onClick` is called as well. */
export function Menu({
  trigger,
  items,
  align = "start",
  label,
}: {
  readonly trigger: Trigger;
  readonly items: MenuItems;
  readonly align?: "start" | "center" | "end";
  /** The name of the menu, if the button's name does not fit. */
  readonly label?: string;
}) {
  const [opened, setOpened] = useState<OpenMenu>();
  const button = cloneElement(trigger, {
    "aria-haspopup": "menu",
    "aria-expanded": opened?.isOpen === true,
    onClick: (event: MouseEvent<HTMLElement>) => {
      trigger.props.onClick?.(event);
      const control = event.currentTarget;
      setOpened({ isOpen: true, anchor: control, items: readItems(items), returnFocus: control });
    },
  } as Partial<Trigger["props"]>);
  return (
    <>
      {button}
      <Popup
        opened={opened}
        items={items}
        align={align}
        label={label ?? uiText.menu}
        onClose={() => setOpened((former) => former && { ...former, isOpen: false })}
      />
    </>
  );
}

/** The context menu of `children`, a single element: opens on right click, long press, or the menu key. */
export function ContextMenu({
  items,
  label,
  onClosed,
  children,
}: {
  readonly items: MenuItems;
  readonly label?: string;
  /** Called when the menu closes, after the action that was chosen. */
  readonly onClosed?: () => void;
  readonly children: Area;
}) {
  const [opened, setOpened] = useState<OpenMenu>();
  const area = cloneElement(children, {
    onContextMenu: (event: MouseEvent<HTMLElement>) => {
      // The area's own handler runs first: it may select the item under the pointer.
      children.props.onContextMenu?.(event);
      if (event.defaultPrevented) return;
      const lines = readItems(items);
      if (lines.length === 0) return;
      event.preventDefault();
      const focused = document.activeElement;
      setOpened({
        isOpen: true,
        anchor: anchorOf(event),
        items: lines,
        returnFocus: focused instanceof HTMLElement ? focused : null,
      });
    },
  });
  return (
    <>
      {area}
      <Popup
        opened={opened}
        items={items}
        align="start"
        label={label ?? uiText.menu}
        onClose={() => {
          setOpened((former) => former && { ...former, isOpen: false });
          onClosed?.();
        }}
      />
    </>
  );
}

function Popup({
  opened,
  items,
  align,
  label,
  onClose,
}: {
  readonly opened: OpenMenu | undefined;
  readonly items: MenuItems;
  readonly align: "start" | "center" | "end";
  readonly label: string;
  readonly onClose: () => void;
}) {
  if (opened === undefined) return null;
  return (
    <Suspense fallback={null}>
      <MenuPopup
        open={opened.isOpen}
        anchor={opened.anchor}
        // A list updates while the menu is open; a function was called once.
        items={typeof items === "function" ? opened.items : items}
        align={align}
        label={label}
        returnFocus={opened.returnFocus}
        onClose={onClose}
      />
    </Suspense>
  );
}

function readItems(items: MenuItems): readonly MenuItem[] {
  return typeof items === "function" ? items() : items;
}

/** The point of the pointer; for the keyboard, the focused element. */
function anchorOf({ clientX, clientY, target, currentTarget }: MouseEvent<HTMLElement>): MenuAnchor {
  if (clientX === 0 && clientY === 0) return target instanceof Element ? target : currentTarget;
  return { getBoundingClientRect: () => new DOMRect(clientX, clientY, 0, 0) };
}
