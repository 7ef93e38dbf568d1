import { type DragEvent, useState } from "react";
import type { Entry } from "../../api/types.ts";
import { createStore, useStore } from "../../base/store.ts";
import type { Destination } from "../actions/bulk.ts";
import { text } from "../text.ts";
import { positionOf } from "./use-grid-pointer.ts";
import type { Collection } from "./use-collection.ts";

/** A drag of entries within this page, and what happens on drop. */
interface EntryDrag {
  /** What a drop on a folder does; undefined if it is not possible. */
  effectOn(to: Destination, wantsCopy: boolean): DropEffect | undefined;
  drop(to: Destination, effect: DropEffect): void;
  /** The folder or album if it alone is dragged, which can be pinned. */
  readonly only: Pick<Entry, "id" | "name"> | undefined;
}

/** What a drop does. */
export type DropEffect = "move" | "copy";

/** Marks drags of this page; files from the desktop have another type. */
const DRAG_TYPE = "application/x-larder-entries";

const dragged = createStore<EntryDrag | undefined>(undefined);

/** Whether entries are being dragged, so that folders elsewhere on the page can show themselves as targets. */
export function useIsDragging(): boolean {
  return useStore(dragged) !== undefined;
}

/** Which drops are allowed, and what they do. */
export interface DragRules<T extends Entry> {
  /**
   * What a drop does; undefined if it is not possible.
   * @param entries the loaded entries of the selection; the move itself loads the rest
   */
  effectOn(to: Destination, entries: readonly T[], wantsCopy: boolean): DropEffect | undefined;
  /** @param entries the dragged entries; undefined for the whole selection */
  onDrop(to: Destination, entries: readonly T[] | undefined, effect: DropEffect): void;
}

/** Which folders of a list take something. */
export interface FolderDrops<T extends Entry> {
  /** Where a drop on a folder of the list goes; undefined if the person may not add anything there. */
  destinationOf(folder: T): Destination | undefined;
  /** Takes files from the desktop. */
  onDropFiles?: ((to: Destination, transfer: DataTransfer) => void) | undefined;
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

/** The folder or album that is being dragged alone. */
export function draggedAlone(event: DragEvent): EntryDrag["only"] {
  return isEntryDrag(event) ? dragged.get()?.only : undefined;
}

/** Makes an element that represents a folder accept dragged entries. `isOver`: highlight it. */
export function useDropFolder(folder: Destination | undefined) {
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
export function useEntryDrag<T extends Entry>(
  collection: Collection<T>,
  rules: DragRules<T> | undefined,
  drops: FolderDrops<T>,
) {
  const [target, setTarget] = useState<number>();

  const folderAt = (event: DragEvent) => {
    const position = positionOf(event.target);
    const entry = position === undefined ? undefined : collection.pages.at(position);
    if (position === undefined || entry?.type !== "folder") return undefined;
    const target = isEntryDrag(event) ? entriesOn(event, entry) : filesOn(event, entry);
    return target && { ...target, position };
  };
  const entriesOn = (event: DragEvent, folder: T): DropTarget | undefined => {
    // If everything is selected, only the pressed entry is known, and the folder may be part of the selection.
    const to = collection.isSelected(folder.id) ? undefined : drops.destinationOf(folder);
    return to && entryDropAt(event, to);
  };
  const filesOn = ({ dataTransfer }: DragEvent, folder: T): DropTarget | undefined => {
    const { onDropFiles } = drops;
    if (onDropFiles === undefined || !dataTransfer.types.includes("Files")) return undefined;
    const to = drops.destinationOf(folder);
    return to && { effect: "copy", drop: () => onDropFiles(to, dataTransfer) };
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
          effectOn: (to, wantsCopy) => rules.effectOn(to, entries, wantsCopy),
          drop: (to, effect) => rules.onDrop(to, dropped, effect),
          only: isPart && collection.count > 1 ? undefined : entry,
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
        // The zone around the list sees it too, and leaves the files to the folder.
        event.preventDefault();
        event.dataTransfer.dropEffect = folder.effect;
      },
      onDragLeave: () => setTarget(undefined),
      onDrop: (event: DragEvent) => {
        const folder = folderAt(event);
        setTarget(undefined);
        if (folder === undefined) return;
        event.preventDefault();
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
