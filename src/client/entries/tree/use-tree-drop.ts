import { type DragEvent, useEffect, useRef, useState } from "react";
import { type DropTarget, entryDropAt } from "../collection/entry-drop.ts";

/** A folder that is closed opens after something hovers over it for this long. */
const OPENS_AFTER_MS = 800;

/** Lets the tree take entries of the page, and files from the desktop. */
export function useTreeDrop({
  isEnabled,
  onDropFiles,
  open,
}: {
  readonly isEnabled: boolean;
  onDropFiles?: ((path: string, transfer: DataTransfer) => void) | undefined;
  open(path: string): void;
}) {
  const [over, setOver] = useState<string>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const hovered = useRef<string>(undefined);
  const hold = (path: string | undefined) => {
    if (hovered.current === path) return;
    hovered.current = path;
    clearTimeout(timer.current);
    if (path !== undefined) timer.current = setTimeout(() => open(path), OPENS_AFTER_MS);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  const end = () => {
    setOver(undefined);
    hold(undefined);
  };
  const targetOf = (event: DragEvent): (DropTarget & { readonly path: string }) | undefined => {
    const item = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-path]") : null;
    const path = item?.dataset["path"];
    if (path === undefined) return undefined;
    const { dataTransfer } = event;
    if (onDropFiles !== undefined && dataTransfer.types.includes("Files")) {
      return { path, effect: "copy", drop: () => onDropFiles(path, dataTransfer) };
    }
    const target = entryDropAt(event, { folder: path });
    hold(path);
    return target && { ...target, path };
  };
  if (!isEnabled) return { over: undefined, handlers: {} };
  return {
    over,
    handlers: {
      onDragOver: (event: DragEvent) => {
        const target = targetOf(event);
        setOver(target?.path);
        if (target === undefined) return;
        hold(target.path);
        event.preventDefault();
        event.stopPropagation();
        event.dataTransfer.dropEffect = target.effect;
      },
      onDragLeave: (event: DragEvent) => {
        const to = event.relatedTarget;
        if (!(to instanceof Node && event.currentTarget.contains(to))) end();
      },
      onDrop: (event: DragEvent) => {
        const target = targetOf(event);
        end();
        if (target === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        target.drop();
      },
    },
  };
}
