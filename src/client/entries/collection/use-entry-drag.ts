import { type DragEvent, useState } from "react";
import type { Entry } from "../../api/types.ts";
import { createStore, useStore } from "../../base/store.ts";
import { text } from "../text.ts";
import { positionOf } from "./use-grid-pointer.ts";
import type { Collection } from "./use-collection.ts";

/** A drag of entries within this page, and what happens on drop. */
interface EntryDrag {
  /** Whether the entries can be moved or copied to a folder: it is not one of them, and for a move not their folder. */
  accepts(folder: string, isCopy: boolean): boolean;
  drop(folder: string, isCopy: boolean): void;
}

/** Marks drags of this page; files from the desktop have another type. */
const DRAG_TYPE = "application/x-larder-entries";

const dragged = createStore<EntryDrag | undefined>(undefined);

/** Whether entries are being dragged, so that folders elsewhere on the page can show themselves as targets. */
export function useIsDragging(): boolean {
  return useStore(dragged) !== undefined;
}

/** Which drops are allowed, and what they do. */
export interface DragRules<T extends Entry> {
  /** @param entries the loaded entries of the selection; the move itself loads the rest */
  canDrop(entries: readonly T[], folder: string, isCopy: boolean): boolean;
  /** @param entries the dragged entries; undefined for the whole selection */
  onDrop(folder: string, entries: readonly T[] | undefined, isCopy: boolean): void;
}

/** What a drop at the pointer does. */
export interface DropTarget {
  readonly effect: "move" | "copy";
  drop(): void;
}

/** What a drop of dragged entries on a folder does; undefined if it is not possible. With Ctrl or Alt, they are copied. */
export function entryDropAt(event: DragEvent, folder: string): DropTarget | undefined {
  const drag = isEntryDrag(event) ? dragged.get() : undefined;
  const isCopy = event.ctrlKey || event.altKey;
  if (drag?.accepts(folder, isCopy) !== true) return undefined;
  return { effect: isCopy ? "copy" : "move", drop: () => drag.drop(folder, isCopy) };
}

/** Makes an element that represents a folder accept dragged entries. `isOver`: highlight it. */
export function useDropFolder(folder: string | undefined) {
  const [isOver, setOver] = useState(false);
  return {
    isOver,
    handlers: {
      onDragOver: (event: DragEvent) => {
        const target = folder === undefined ? undefined : entryDropAt(event, folder);
        if (target === undefined) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = target.effect;
        setOver(true);
      },
      onDragLeave: () => setOver(false),
      onDrop: (event: DragEvent) => {
        setOver(false);
        if (folder === undefined || !isEntryDrag(event)) return;
        event.preventDefault();
        event.stopPropagation();
        entryDropAt(event, folder)?.drop();
      },
    },
  };
}

/** Drag and drop of the entries of a grid, onto its folders and other targets. */
export function useEntryDrag<T extends Entry>(collection: Collection<T>, rules: DragRules<T> | undefined) {
  const [target, setTarget] = useState<number>();

  const folderAt = (event: DragEvent) => {
    const position = positionOf(event.target);
    const entry = position === undefined ? undefined : collection.pages.at(position);
    if (position === undefined || entry?.type !== "folder" || !isEntryDrag(event)) return undefined;
    // If everything is selected, only the pressed entry is known, and the folder may be part of the selection.
    if (collection.isSelected(entry.id)) return undefined;
    const target = entryDropAt(event, entry.path);
    return target && { ...target, position };
  };

  return {
    target,
    handlers: {
      onDragStart: (event: DragEvent) => {
        const position = positionOf(event.target);
        const entry = position === undefined ? undefined : collection.pages.at(position);
        if (rules === undefined || position === undefined || entry === undefined) return event.preventDefault();
        const isPart = collection.isSelected(entry.id);
        if (!isPart) collection.select(position, "only");
        const dropped = isPart ? undefined : [entry];
        const entries =
          isPart && collection.selection.kind === "some" ? [...collection.selection.entries.values()] : [entry];
        event.dataTransfer.setData(DRAG_TYPE, "1");
        event.dataTransfer.effectAllowed = "copyMove";
        showCount(event, isPart ? collection.count : 1);
        dragged.set({
          accepts: (folder, isCopy) => rules.canDrop(entries, folder, isCopy),
          drop: (folder, isCopy) => rules.onDrop(folder, dropped, isCopy),
        });
      },
      onDragEnd: () => {
        dragged.set(undefined);
        setTarget(undefined);
      },
      onDragOver: (event: DragEvent) => {
        const folder = folderAt(event);
        setTarget(folder?.position);
        if (folder === undefined) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = folder.effect;
      },
      onDragLeave: () => setTarget(undefined),
      onDrop: (event: DragEvent) => {
        const folder = folderAt(event);
        setTarget(undefined);
        if (folder === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        folder.drop();
      },
    },
  };
}

function isEntryDrag(event: DragEvent): boolean {
  return event.dataTransfer.types.includes(DRAG_TYPE);
}

/** Shows a small label at the pointer instead of an image of the row. */
function showCount(event: DragEvent, count: number): void {
  const label = document.createElement("div");
  label.textContent = text.dragging(count);
  label.className = "fixed -top-24 start-0 rounded-lg bg-accent px-3 py-1.5 text-sm font-medium text-on-accent";
  document.body.append(label);
  event.dataTransfer.setDragImage(label, -12, -8);
  // The browser has captured the image when the event ends.
  setTimeout(() => label.remove());
}
