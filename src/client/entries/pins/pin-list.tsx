import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useLocation } from "@tanstack/react-router";
import { PinOff } from "lucide-react";
import { type DragEvent, type MouseEvent, useState } from "react";
import { cx } from "../../ui/cx.ts";
import { ArrowDown, ArrowUp, EllipsisVertical } from "../../ui/icons.ts";
import { ContextMenu, Menu } from "../../ui/menu.tsx";
import type { MenuItem } from "../../ui/menu-items.ts";
import { useCanDrop, useDropAction, useDropFolder } from "../collection/entry-drop.ts";
import { movePin, removePin } from "./actions.ts";
import { type Pin, pinsQuery } from "./api.ts";
import { dropFolderOf, iconOf, linkTo } from "./link.ts";
import { text } from "./text.ts";

/** The type of the data of a dragged pin. */
const PIN_TYPE = "application/x-larder-pin";

interface PinListProps {
  /** In the drawer, a link replaces its history entry. */
  readonly isInDrawer: boolean;
  /** Called instead of following the link to the page that is open. */
  onSamePage(): void;
}

/** The pinned folders and albums, for the sidebar. Without pins, only while something is dragged that can be pinned. */
export function PinList(props: PinListProps) {
  const { data: pins = [] } = useQuery(pinsQuery);
  const canDrop = useCanDrop("pin");
  if (pins.length === 0 && !canDrop) return null;
  return (
    <section aria-labelledby="pins-title">
      <PinsTitle />
      <ul className="flex flex-col gap-0.5">
        {pins.map((pin, index) => (
          <PinItem key={pin.id} pin={pin} pins={pins} index={index} {...props} />
        ))}
      </ul>
    </section>
  );
}

/** The title, which pins a folder that is dropped on it. */
function PinsTitle() {
  const { isOver, handlers } = useDropAction("pin");
  return (
    <h2
      id="pins-title"
      {...handlers}
      className={cx(
        "rounded-full px-4 py-1 text-xs font-semibold text-muted",
        isOver && "bg-accent-soft ring-2 ring-accent",
      )}
    >
      {text.title}
    </h2>
  );
}

function PinItem({
  pin,
  pins,
  index,
  isInDrawer,
  onSamePage,
}: PinListProps & { readonly pin: Pin; readonly pins: readonly Pin[]; readonly index: number }) {
  const { href, searchStr, pathname } = useLocation();
  const link = linkTo(pin);
  const isCurrent = isAt(pin, pathname, searchStr);
  const folderDrop = useDropFolder(dropFolderOf(pin));
  const pinDrop = useReorder(pins, index);
  const items = usePinMenu(pins, index);
  const onClick = (event: MouseEvent) => {
    if (!isInDrawer || !isCurrent || href === "") return;
    event.preventDefault();
    onSamePage();
  };
  const Icon = iconOf(pin);
  const title =
    pin.owner === null ? pin.name : `${pin.name} – ${text.sharedBy({ name: pin.owner.name || pin.owner.email })}`;
  return (
    <ContextMenu items={items}>
      <li
        className={cx(
          "group relative flex items-center rounded-full",
          folderDrop.isOver && "bg-accent-soft ring-2 ring-accent",
          pinDrop.isOver && "border-t-2 border-accent",
        )}
        {...folderDrop.handlers}
        {...pinDrop.handlers(folderDrop.handlers)}
      >
        <Link
          {...link}
          replace={isInDrawer}
          title={title}
          draggable
          onDragStart={(event) => {
            event.dataTransfer.setData(PIN_TYPE, pin.id);
            event.dataTransfer.effectAllowed = "move";
          }}
          onClick={onClick}
          {...(isCurrent && { "aria-current": "page" as const })}
          className="control flex min-w-0 flex-1 items-center gap-3 rounded-full ps-4 pe-9 text-sm font-medium text-ink no-underline hover:bg-sunken aria-[current=page]:bg-accent-soft aria-[current=page]:text-accent"
        >
          <Icon aria-hidden size={20} className="shrink-0" />
          <bdi className="truncate">{pin.name}</bdi>
        </Link>
        <Menu
          align="end"
          label={text.menuOf({ name: pin.name })}
          trigger={
            <button
              type="button"
              aria-label={text.menuOf({ name: pin.name })}
              className="absolute end-1 grid size-8 place-items-center rounded-full text-muted opacity-0 group-hover:opacity-100 hover:bg-raised hover:text-ink focus-visible:opacity-100 aria-expanded:opacity-100 pointer-coarse:size-10 pointer-coarse:opacity-100"
            >
              <EllipsisVertical aria-hidden className="size-4" />
            </button>
          }
          items={items}
        />
      </li>
    </ContextMenu>
  );
}

/** The actions on a pin. */
function usePinMenu(pins: readonly Pin[], index: number): () => MenuItem[] {
  const queryClient = useQueryClient();
  return () => {
    const pin = pins[index];
    if (pin === undefined) return [];
    const isLast = index === pins.length - 1;
    return [
      ...(index === 0
        ? []
        : [{ label: text.moveUp, icon: ArrowUp, run: () => void movePin(queryClient, pin, pins[index - 1]?.id) }]),
      ...(isLast
        ? []
        : [{ label: text.moveDown, icon: ArrowDown, run: () => void movePin(queryClient, pin, pins[index + 2]?.id) }]),
      { label: text.unpin, icon: PinOff, run: () => void removePin(queryClient, pin) },
    ];
  };
}

/** Lets other pins be dropped before one. */
function useReorder(pins: readonly Pin[], index: number) {
  const queryClient = useQueryClient();
  const [isOver, setOver] = useState(false);
  const isPinDrag = (event: DragEvent) => event.dataTransfer.types.includes(PIN_TYPE);
  type Handler = (event: DragEvent) => void;
  const handlers = (others: { onDragOver: Handler; onDragLeave: Handler; onDrop: Handler }) => ({
    onDragOver: (event: DragEvent) => {
      if (!isPinDrag(event)) return others.onDragOver(event);
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: (event: DragEvent) => {
      setOver(false);
      others.onDragLeave(event);
    },
    onDrop: (event: DragEvent) => {
      setOver(false);
      if (!isPinDrag(event)) return others.onDrop(event);
      event.preventDefault();
      const moved = pins.find(({ id }) => id === event.dataTransfer.getData(PIN_TYPE));
      const target = pins[index];
      if (moved !== undefined && target !== undefined && moved.id !== target.id) {
        void movePin(queryClient, moved, target.id);
      }
    },
  });
  return { isOver, handlers };
}

function isAt({ type, id, path = "/", share }: Pin, pathname: string, search: string): boolean {
  if (type === "album") return pathname === `/albums/${id}`;
  if (share === undefined) return decoded(pathname) === `/files${path}`;
  const query = new URLSearchParams(search);
  return pathname === "/shared/with-me" && query.get("share") === share && (query.get("path") ?? "/") === path;
}

function decoded(pathname: string): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return pathname;
  }
}
