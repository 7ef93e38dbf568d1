import { useEffect } from "react";
import { ignore } from "../../base/ignore.ts";

/** Keeps the screen on while `isActive`, where the browser can. */
export function useWakeLock(isActive: boolean): void {
  useEffect(() => {
    if (!isActive || !("wakeLock" in navigator)) return undefined;
    let lock: WakeLockSentinel | undefined;
    let isOver = false;
    const request = () => {
      if (document.visibilityState !== "visible" || isOver) return;
      navigator.wakeLock.request("screen").then((found) => {
        lock = found;
        if (isOver) found.release().catch(ignore);
      }, ignore);
    };
    request();
    // The browser releases the lock when the page is hidden.
    document.addEventListener("visibilitychange", request);
    return () => {
      isOver = true;
      document.removeEventListener("visibilitychange", request);
      lock?.release().catch(ignore);
    };
  }, [isActive]);
}
