import { type RefObject, useEffect, useState } from "react";

/** Smaller movements, such as those of a resting finger, don't count, in pixels. */
const MOVED_PIXELS = 8;

/**
 * Whether the person scrolls towards the end of the page, in any of its lists. False again as soon as they scroll back,
 * at the start of a list, and on another page. A control that has the focus from the keyboard stays where it is.
 * @param control what is hidden then
 * @param page changes with the page
 */
export function useScrollingDown(control: RefObject<HTMLElement | null>, page: string): boolean {
  const [downOn, setDownOn] = useState<string>();
  useEffect(() => {
    const positions = new WeakMap<Element, number>();
    const onScroll = ({ target }: Event) => {
      if (!(target instanceof HTMLElement) || target.closest("#main") === null) return;
      const at = target.scrollTop;
      const before = positions.get(target) ?? 0;
      if (at > 0 && Math.abs(at - before) < MOVED_PIXELS) return;
      positions.set(target, at);
      const isDown = at > 0 && at > before;
      if (isDown && control.current?.querySelector(":focus-visible") != null) return;
      setDownOn(isDown ? page : undefined);
    };
    // On the way down to the target, because scroll events do not bubble.
    document.addEventListener("scroll", onScroll, true);
    return () => document.removeEventListener("scroll", onScroll, true);
  }, [control, page]);
  return downOn === page;
}
