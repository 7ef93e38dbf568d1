import { useEffect, useState } from "react";
import { whenIdle } from "../../base/when-idle.ts";
import { whenUsed } from "../../base/when-used.ts";
import { mayHaveSavedUploads, UPLOADS_STORED } from "./engine/upload-db-name.ts";

/**
 * Whether to load the upload tray: at once for files that another app shared, when the page is idle if there may be
 * uploads to resume, and otherwise when the person first uses the page.
 */
export function useTrayNeeded(hasSharedFiles: boolean): boolean {
  const [isNeeded, setNeeded] = useState(hasSharedFiles);
  useEffect(() => {
    const want = () => setNeeded(true);
    whenUsed(want);
    whenIdle(() => void mayHaveSavedUploads().then((may) => may && want()));
    // Another tab started to upload. If it is closed, this one takes over.
    const onStored = ({ key }: StorageEvent) => {
      if (key === `larder-${UPLOADS_STORED}`) want();
    };
    window.addEventListener("storage", onStored);
    return () => window.removeEventListener("storage", onStored);
  }, []);
  return isNeeded;
}
