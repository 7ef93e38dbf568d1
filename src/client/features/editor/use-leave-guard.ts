import { useRouter } from "@tanstack/react-router";
import { useCallback, useEffect, useRef, useState } from "react";
import { useGoToFolder } from "../../entries/folder-address.ts";

/**
 * Keeps the person on the page while there are unsaved changes, until they decide.
 * @param folder the folder to go to if the page was opened by its address
 */
export function useLeaveGuard(isDirty: boolean, folder: string) {
  const router = useRouter();
  const goToFolder = useGoToFolder();
  const [isAsking, setAsking] = useState(false);
  const mayLeave = useRef(false);
  useEffect(() => {
    if (!isDirty) return undefined;
    mayLeave.current = false;
    return router.history.block({
      // The browser asks in its own words before it closes or reloads the page.
      enableBeforeUnload: () => !mayLeave.current,
      blockerFn: ({ currentLocation, nextLocation }) => {
        // Dialogs of this page have entries with the same address.
        if (mayLeave.current || currentLocation.pathname === nextLocation.pathname) return false;
        setAsking(true);
        return true;
      },
    });
  }, [isDirty, router]);
  const leave = useCallback(() => {
    mayLeave.current = true;
    setAsking(false);
    if (router.history.canGoBack()) router.history.back();
    else goToFolder(folder);
  }, [router, goToFolder, folder]);
  return {
    isAsking,
    /** Leaves the page, or asks first. */
    close: () => (isDirty ? setAsking(true) : leave()),
    leave,
    stay: () => setAsking(false),
  };
}
