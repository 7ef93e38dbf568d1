/**
 * Where dragged entries can be dropped. The frame of the page uses it too, so it depends on little: how a drag begins is in
 * `use-entry-drag.ts`.
 */
import { type DragEvent, useState } from "react";
import type { Destination } from "../actions/bulk.ts";
import { createStore, useStore } from "../../base/store.ts";

/** What the links and the pins of the sidebar do with dropped entries. */
export type DropAction = "favorite" | "trash" | "pin";

/** A drag of entries within this page, and what happens on drop. */
interface EntryDrag {
  /** What a drop on a folder does; undefined if it is not possible. */
  effectOn(to: Destination, wantsCopy: boolean): DropEffect | undefined;
  drop(to: Destination, effect: DropEffect): void;
  /** What a drop on a link of the sidebar does; undefined if it is not allowed. */
  actionFor(action: DropAction): (() => void) | undefined;
}

/** What a drop does with the entries. */
export type DropEffect = "move" | "copy";

/** Marks drags of this page; files from the desktop have another type. */
export const DRAG_TYPE = "application/x-larder-entries";

/** The current drag. */
export const dragged = createStore<EntryDrag | undefined>(undefined);

/** Whether entries are being dragged, so that folders elsewhere on the page can show themselves as targets. */
export function useIsDragging(): boolean {
  return useStore(dragged) !== undefined;
}

/** Whether the entries that are being dragged can be dropped for an action. */
export function useCanDrop(action: DropAction): boolean {
  return useStore(dragged)?.actionFor(action) !== undefined;
}

/** What a drop at the pointer does. */
export interface DropTarget {
  readonly effect: DropEffect;
  drop(): void;
}

/** What a drop of dragged entries on a folder does; undefined if it is not possible. With Ctrl or Alt, they are copied. */
export function entryDropAt(event: DragEvent, to: Destination): DropTarget | undefined {
  const drag = isEntryDrag(event) ? dragged.get() : undefined;
  const effect = drag?.effectOn(to, event.ctrlKey || event.altKey);
  return drag && effect && { effect, drop: () => drag.drop(to, effect) };
}

/** Makes an element that represents a folder accept dragged entries. `isOver`: highlight it. */
export function useDropFolder(folder: Destination | undefined) {
  return useDropTarget((event) => (folder === undefined ? undefined : entryDropAt(event, folder)));
}

/** Makes an element accept dragged entries for an action. `isOver`: highlight it. */
export function useDropAction(action: DropAction | undefined) {
  return useDropTarget((event) => {
    const drag = isEntryDrag(event) ? dragged.get() : undefined;
    const drop = action && drag?.actionFor(action);
    return drop && { effect: action === "trash" ? "move" : "copy", drop };
  });
}

function useDropTarget(targetOf: (event: DragEvent) => DropTarget | undefined) {
  const [isOver, setOver] = useState(false);
  return {
    isOver,
    handlers: {
      onDragOver: (event: DragEvent) => {
        const target = targetOf(event);
        if (target === undefined) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = target.effect;
        setOver(true);
      },
      onDragLeave: () => setOver(false),
      onDrop: (event: DragEvent) => {
        setOver(false);
        const target = targetOf(event);
        if (target === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        target.drop();
      },
    },
  };
}

/** Whether a drag is one of entries of this page. */
export function isEntryDrag(event: DragEvent): boolean {
  return event.dataTransfer.types.includes(DRAG_TYPE);
}
