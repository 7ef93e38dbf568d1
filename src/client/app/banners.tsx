import { CloudOff, Sparkles } from "lucide-react";
import { Button } from "../ui/button.tsx";
import { useIsReached, useIsUpdated } from "../api/connection.ts";
import { frameText } from "./text.ts";

/** Banners for the whole page: the server can't be reached, or has a new version. */
export function Banners() {
  const isReached = useIsReached();
  const isUpdated = useIsUpdated();
  return (
    <div role="status">
      {!isReached && (
        <p className="flex items-center gap-3 bg-warning-soft px-4 py-2 text-sm text-warning">
          <CloudOff aria-hidden size={18} className="shrink-0" />
          {frameText.offline}
        </p>
      )}
      {isReached && isUpdated && (
        <p className="flex items-center gap-3 bg-accent-soft px-4 py-1.5 text-sm text-accent">
          <Sparkles aria-hidden size={18} className="shrink-0" />
          <span className="flex-1">{frameText.newVersion}</span>
          <Button size="small" onClick={() => window.location.reload()}>
            {frameText.reload}
          </Button>
        </p>
      )}
    </div>
  );
}
