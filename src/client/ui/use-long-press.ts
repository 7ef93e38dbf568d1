import { type PointerEvent, useEffect, useRef } from "react";

/** How long a finger must rest to select. */
const LONG_PRESS_MS = 450;
/** A finger that moves further scrolls, in CSS pixels. */
const STILL_PX = 10;

/** Detects a long press by touch. Call `start`, `move` and `end` from the pointer handlers. */
export function useLongPress() {
  const press = useRef<{ timer: ReturnType<typeof setTimeout>; x: number; y: number } | undefined>(undefined);
  const wasLong = useRef(false);
  const end = () => {
    clearTimeout(press.current?.timer);
    press.current = undefined;
  };
  useEffect(() => end, []);
  return {
    /** @param onLong undefined if there is nothing to select under the finger */
    start: (event: PointerEvent, onLong: (() => void) | undefined) => {
      wasLong.current = false;
      end();
      if (event.pointerType !== "touch" || onLong === undefined) return;
      const timer = setTimeout(() => {
        wasLong.current = true;
        onLong();
      }, LONG_PRESS_MS);
      press.current = { timer, x: event.clientX, y: event.clientY };
    },
    move: ({ clientX, clientY }: PointerEvent) => {
      if (press.current !== undefined && Math.hypot(clientX - press.current.x, clientY - press.current.y) > STILL_PX)
        end();
    },
    end,
    isPressed: () => press.current !== undefined,
    /** Whether the last press was long, until its click was handled. */
    wasLong: () => wasLong.current,
    /** Whether a click only ends a long press; to be called once for each click. */
    isEndOfPress: () => {
      const was = wasLong.current;
      wasLong.current = false;
      return was;
    },
  };
}
