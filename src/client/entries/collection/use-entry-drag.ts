import { type DragEvent, useState } from "react";
import type { Entry } from "../../api/types.ts";
import { createStore, useStore } from "../../base/store.ts";
import { text } from "../text.ts";
import { positionOf } from "./use-grid-pointer.ts";
import type { Collection } from "./use-collection.ts";

/** A drag of entries within this page, and what happens on drop. */
interface EntryDrag {
  /** Whether the entries can be dropped on a folder: it is neither one of them nor their parent folder. */
  accepts(folder: string): boolean;
  drop(folder: string): void;
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
  canDrop(entries: readonly T[], folder: string): boolean;
  /** @param entries the dragged entries; undefined for the whole selection */
  onDrop(folder: string, entries: readonly T[] | undefined): void;
}

/** Makes an element that represents a folder accept dragged entries. `isOver`: highlight it. */
export function useDropFolder(folder: string | undefined) {
  const [isOver, setOver] = useState(false);
  return {
    isOver,
    handlers: {
      onDragOver: (event: DragEvent) => {
        if (folder === undefined || !isEntryDrag(event) || dragged.get()?.accepts(folder) !== true) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = "move";
        setOver(true);
      },
      onDragLeave: () => setOver(false),
      onDrop: (event: DragEvent) => {
        setOver(false);
        if (folder === undefined || !isEntryDrag(event)) return;
        event.preventDefault();
        event.stopPropagation();
        const drag = dragged.get();
        if (drag?.accepts(folder) === true) drag.drop(folder);
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
    return dragged.get()?.accepts(entry.path) === true ? { position, path: entry.path } : undefined;
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
        event.dataTransfer.effectAllowed = "move";
        showCount(event, isPart ? collection.count : 1);
        dragged.set({
          accepts: (folder) => rules.canDrop(entries, folder),
          drop: (folder) => rules.onDrop(folder, dropped),
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
        event.dataTransfer.dropEffect = "move";
      },
      onDragLeave: () => setTarget(undefined),
      onDrop: (event: DragEvent) => {
        const folder = folderAt(event);
        setTarget(undefined);
        if (folder === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        dragged.get()?.drop(folder.path);
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
