/** Shows the target position and the number of items while items of a grid are dragged. */
import { rectOfDrop, type Drop } from "./drop.ts";
import { boxOf } from "./positions.ts";
import { text } from "./text.ts";
import type { Layout } from "./types.ts";

/** A drag in progress. */
export interface Drag {
  /** The item on which the drag began. */
  readonly dragged: number;
  /** How many items are dragged. */
  readonly count: number;
  /** Where they will be dropped. */
  readonly drop: Drop;
  /** The position of the pointer in the window. */
  readonly x: number;
  readonly y: number;
}

/** A line where the dragged items will be inserted. */
export function DropLine({ layout, drop }: { readonly layout: Layout; readonly drop: Drop }) {
  const { left, top, height } = rectOfDrop(layout, drop);
  return (
    <div
      aria-hidden
      data-drop={drop.index}
      className="pointer-events-none absolute z-10 w-1.5 rounded-full bg-accent ring-2 ring-raised"
      style={{ insetInlineStart: left, top, height }}
    />
  );
}

/** Fades an item that is being dragged. */
export function DraggedItem({ layout, index }: { readonly layout: Layout; readonly index: number }) {
  const { left, ...box } = boxOf(layout, index);
  return (
    <div
      aria-hidden
      className="pointer-events-none absolute bg-raised opacity-60"
      style={{ insetInlineStart: left, ...box }}
    />
  );
}

/** The number of dragged items, next to the pointer. */
export function DragLabel({ drag: { count, x, y } }: { readonly drag: Drag }) {
  return (
    <div
      aria-hidden
      className="pointer-events-none fixed z-50 rounded-lg bg-accent px-3 py-1.5 text-sm font-medium text-on-accent shadow-lg"
      style={{ left: x + 14, top: y + 14 }}
    >
      {text.dragging({ n: count })}
    </div>
  );
}
