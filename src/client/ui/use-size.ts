import { type RefObject, useLayoutEffect, useState } from "react";

/**
 * The inner width and height of an element, kept up to date.
 * @param initialWidth assumed for the first rendering, before the element can be measured
 */
export function useSize(ref: RefObject<HTMLElement | null>, initialWidth = 0): { width: number; height: number } {
  const [size, setSize] = useState({ width: initialWidth, height: 0 });
  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const measure = () => {
      const { clientWidth: width, clientHeight: height } = element;
      setSize((before) => (before.width === width && before.height === height ? before : { width, height }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref]);
  return size;
}
