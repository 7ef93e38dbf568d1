import { type MouseEvent, type PointerEvent, useRef } from "react";
import type { Entry } from "../../api/types.ts";
import { useLongPress } from "../../ui/use-long-press.ts";
import type { Collection } from "./use-collection.ts";

/** The position of the entry that an event happened on. */
export function positionOf(target: EventTarget | null): number | undefined {
  const element = target instanceof Element ? target.closest<HTMLElement>("[data-position]") : null;
  return element === null ? undefined : Number(element.dataset["position"]);
}

function findPart(target: EventTarget | null): string | undefined {
  const part = target instanceof Element ? target.closest<HTMLElement>("[data-part]") : null;
  return part?.dataset["part"];
}

/**
 * Clicks and touches of a grid. With a mouse, a click selects (Ctrl adds, Shift selects a range) and a double click
 * opens. With a finger, a tap opens and a long press selects; then taps select until the selection is empty.
 */
export function useGridPointer<T extends Entry>(
  collection: Collection<T>,
  { onOpen, openMenuAt }: { onOpen(entry: T, position: number): void; openMenuAt(element: Element): void },
) {
  const pointer = useRef("mouse");
  const press = useLongPress();

  const open = (position: number) => {
    const entry = collection.pages.at(position);
    if (entry === undefined) return;
    collection.point(position);
    onOpen(entry, position);
  };

  const selectByPress = (position: number) => {
    navigator.vibrate?.(10);
    collection.select(position, "toggle");
  };
  const onClick = (event: MouseEvent) => {
    const position = positionOf(event.target);
    if (position === undefined || press.isEndOfPress()) return;
    const part = findPart(event.target);
    if (part === "menu") {
      event.stopPropagation();
      const button = event.target;
      // A menu that opens during this click would treat it as a click outside, and close.
      if (button instanceof Element) setTimeout(() => openMenuAt(button));
      return;
    }
    if (part === "check") return collection.select(position, event.shiftKey ? "range" : "toggle");
    const isControl = event.ctrlKey || event.metaKey;
    // `detail` 0 means that a screen reader activated the entry.
    const isTap = pointer.current !== "mouse" || event.detail === 0;
    if (isTap && collection.count > 0) collection.select(position, "toggle");
    else if (isTap) open(position);
    else if (event.shiftKey) collection.select(position, isControl ? "addRange" : "range");
    else collection.select(position, isControl ? "toggle" : "only");
  };

  return {
    onClick,
    onDoubleClick: (event: MouseEvent) => {
      const position = positionOf(event.target);
      const isPlain = findPart(event.target) === undefined && !event.ctrlKey && !event.metaKey && !event.shiftKey;
      if (position !== undefined && isPlain && pointer.current === "mouse") open(position);
    },
    onPointerDown: (event: PointerEvent) => {
      pointer.current = event.pointerType;
      const position = positionOf(event.target);
      const isOnEntry = position !== undefined && findPart(event.target) === undefined;
      press.start(event, isOnEntry ? () => selectByPress(position) : undefined);
    },
    onPointerMove: press.move,
    onPointerUp: press.end,
    onPointerCancel: press.end,
    /** Whether the last pointer was a finger or a pen. */
    isTouch: () => pointer.current !== "mouse",
    /** @returns whether the menu may open: not during a long press, which selects */
    wantsMenu: () => !press.isPressed() && !press.wasLong(),
  };
}
