import { type DragEvent, useState } from "react";
import type { Entry } from "../../api/types.ts";
import { text } from "../text.ts";
import { type DropAction, DRAG_TYPE, dragged, entryDropAt, isEntryDrag } from "./entry-drop.ts";
import { positionOf } from "./use-grid-pointer.ts";
import type { Collection } from "./use-collection.ts";

/** Which drops are allowed, and what they do. */
export interface DragRules<T extends Entry> {
  /** @param entries the loaded entries of the selection; the move itself loads the rest */
  canDrop(entries: readonly T[], folder: string, isCopy: boolean): boolean;
  /** @param entries the dragged entries; undefined for the whole selection */
  onDrop(folder: string, entries: readonly T[] | undefined, isCopy: boolean): void;
  /** The same for a drop on a link of the side bar. */
  onAction(action: DropAction, entries: readonly T[] | undefined): void;
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
          favorite: () => rules.onAction("favorite", dropped),
          trash: () => rules.onAction("trash", dropped),
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
