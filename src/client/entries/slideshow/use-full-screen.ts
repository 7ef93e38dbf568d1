import { useEffect, useRef } from "react";
import { ignore } from "../../base/ignore.ts";

/**
 * Shows the page in full screen while mounted, where the browser allows it. Calls `onLeave` when the person leaves full
 * screen: browsers take the Escape key for that.
 */
export function useFullScreen(onLeave: () => void): void {
  const latest = useRef(onLeave);
  useEffect(() => {
    latest.current = onLeave;
  });
  useEffect(() => {
    if (!document.fullscreenEnabled) return undefined;
    let wasEntered = false;
    let isOver = false;
    const onChange = () => {
      if (document.fullscreenElement === null && wasEntered && !isOver) latest.current();
    };
    document.addEventListener("fullscreenchange", onChange);
    document.documentElement.requestFullscreen({ navigationUI: "hide" }).then(() => {
      wasEntered = true;
      if (isOver) document.exitFullscreen().catch(ignore);
    }, ignore);
    return () => {
      isOver = true;
      document.removeEventListener("fullscreenchange", onChange);
      if (document.fullscreenElement !== null) document.exitFullscreen().catch(ignore);
    };
  }, []);
}
