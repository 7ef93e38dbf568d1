import { useEffect, useRef } from "react";

/** Limits an element to the part of the window that the keyboard of a phone does not cover. */
export function useVisibleHeight() {
  const element = useRef<HTMLElement>(null);
  useEffect(() => {
    const { visualViewport } = window;
    if (visualViewport === null) return undefined;
    const follow = () => {
      if (element.current !== null) element.current.style.height = `${visualViewport.height}px`;
    };
    follow();
    visualViewport.addEventListener("resize", follow);
    return () => visualViewport.removeEventListener("resize", follow);
  }, []);
  return element;
}
