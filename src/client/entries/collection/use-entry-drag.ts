import { type DragEvent, useState } from "react";
import type { Entry } from "../../api/types.ts";
import type { Destination } from "../actions/bulk.ts";
import { text } from "../text.ts";
import {
  type DropAction,
  type DropEffect,
  type DropTarget,
  DRAG_TYPE,
  dragged,
  entryDropAt,
  isEntryDrag,
} from "./entry-drop.ts";
import { positionOf } from "./use-grid-pointer.ts";
import type { Collection } from "./use-collection.ts";

/** Which drops are allowed, and what they do. */
export interface DragRules<T extends Entry> {
  /**
   * What a drop does; undefined if it is not possible.
   * @param entries the loaded entries of the selection; the move itself loads the rest
   */
  effectOn(to: Destination, entries: readonly T[], wantsCopy: boolean): DropEffect | undefined;
  /** @param entries the dragged entries; undefined for the whole selection */
  onDrop(to: Destination, entries: readonly T[] | undefined, effect: DropEffect): void;
  /**
   * What a drop on the sidebar does; undefined if it is not allowed.
   * @param only the entry, if it is the only one
   */
  actionFor(action: DropAction, only: T | undefined): ((entries: readonly T[] | undefined) => void) | undefined;
}

/** Which folders of a list take something. */
export interface FolderDrops<T extends Entry> {
  /** Where a drop on a folder of the list goes; undefined if the person may not add anything there. */
  destinationOf(folder: T): Destination | undefined;
  /** Takes files from the desktop. */
  onDropFiles?: ((to: Destination, transfer: DataTransfer) => void) | undefined;
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
    const target = isEntryDrag(event) ? entriesOn(event, entry) : filesOn(event, drops, entry);
    return target && { ...target, position };
  };
  const entriesOn = (event: DragEvent, folder: T): DropTarget | undefined => {
    // If everything is selected, only the pressed entry is known, and the folder may be part of the selection.
    const to = collection.isSelected(folder.id) ? undefined : drops.destinationOf(folder);
    return to && entryDropAt(event, to);
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
          actionFor: (action) => {
            const isOne = !isPart || collection.count === 1;
            const run = rules.actionFor(action, isOne ? entry : undefined);
            return run && (() => run(dropped));
          },
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

/** What a drop of files from the desktop on a folder does; undefined if it is not possible. */
function filesOn<T extends Entry>(
  { dataTransfer }: DragEvent,
  { onDropFiles, destinationOf }: FolderDrops<T>,
  folder: T,
): DropTarget | undefined {
  if (onDropFiles === undefined || !dataTransfer.types.includes("Files")) return undefined;
  const to = destinationOf(folder);
  return to && { effect: "copy", drop: () => onDropFiles(to, dataTransfer) };
}

/** Shows a small label at the pointer instead of an image of the row. */
function showCount(event: DragEvent, count: number): void {
  const label = document.createElement("div");
  label.textContent = text.dragging({ n: count });
  label.className = "fixed -top-24 start-0 rounded-lg bg-accent px-3 py-1.5 text-sm font-medium text-on-accent";
  document.body.append(label);
  event.dataTransfer.setDragImage(label, -12, -8);
  // The browser has captured the image when the event ends.
  setTimeout(() => label.remove());
}
