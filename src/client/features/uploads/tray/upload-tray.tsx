import { ChevronDown, ChevronUp } from "lucide-react";
import { X } from "../../../ui/icons.ts";
import { lazy, Suspense, useEffect, useState } from "react";
import { useSetTextSearch } from "../../../base/search-params.ts";
import { useSession } from "../../../api/session.ts";
import { Button } from "../../../ui/button.tsx";
import { cx } from "../../../ui/cx.ts";
import { IconButton } from "../../../ui/icon-button.tsx";
import { Progress } from "../../../ui/progress.tsx";
import { ConflictDialog } from "./conflict-dialog.tsx";
import { MissingFiles } from "./missing-files.tsx";
import { text } from "../text.ts";
import type { UploadTotals } from "../engine/types.ts";
import { UploadRows } from "./upload-rows.tsx";
import { uploadEngine, useUploads } from "../page-engine.ts";
import { confirmThen } from "../../../ui/confirm.tsx";
import { withMember } from "../../../base/sets.ts";
import { HasAddress } from "../../../ui/dialog.tsx";

const SharedFiles = lazy(() =>
  import("./shared-files-dialog.tsx").then((part) => ({ default: part.SharedFilesDialog })),
);
const ShareMissed = lazy(() =>
  import("./share-missed-dialog.tsx").then((part) => ({ default: part.ShareMissedDialog })),
);

/**
 * The list of uploads, at the lower edge of every page; hidden if there are none. It also resumes uploads of an earlier
 * page, and handles files shared by other apps (`?shared=1`) or lost (`?shared=missed`).
 */
export function UploadTray({ sharedAs }: { readonly sharedAs: string | null }) {
  const { user } = useSession();
  const { uploads, totals } = useUploads();
  const [isOpen, setIsOpen] = useState(true);
  const [decided, setDecided] = useState<ReadonlySet<string>>(new Set());
  const [shared, dismissShared] = useSharedAddress(sharedAs);

  useEffect(() => {
    void uploadEngine().start(user.id);
    return () => uploadEngine().stop();
  }, [user.id]);

  const conflict = uploads.find(({ id, state }) => state === "conflict" && !decided.has(id));
  return (
    <>
      <HasAddress value={true}>
        <Suspense fallback={null}>
          {shared === "1" && <SharedFiles />}
          {shared === "missed" && <ShareMissed onClose={dismissShared} />}
        </Suspense>
      </HasAddress>
      {conflict !== undefined && (
        <ConflictDialog
          key={conflict.id}
          upload={conflict}
          hasOthers={uploads.some(({ id, batch }) => batch === conflict.batch && id !== conflict.id)}
          onLater={() => setDecided(withMember(decided, conflict.id, true))}
        />
      )}
      {uploads.length > 0 && (
        <section
          aria-label={text.region}
          className={cx(
            "fixed inset-x-2 bottom-18 z-40 flex max-h-[60dvh] flex-col overflow-hidden rounded-xl border border-line-strong",
            "bg-raised shadow-2xl sm:inset-x-auto sm:end-4 sm:bottom-4 sm:w-104",
          )}
        >
          <TrayHeader totals={totals} isOpen={isOpen} onToggle={() => setIsOpen(!isOpen)} />
          {isOpen && (
            <>
              <MissingFiles uploads={uploads} />
              <UploadRows uploads={uploads} onDecide={(id) => setDecided(withMember(decided, id, false))} />
              <TrayFooter totals={totals} />
            </>
          )}
        </section>
      )}
    </>
  );
}

function TrayHeader({ totals, isOpen, onToggle }: { totals: UploadTotals; isOpen: boolean; onToggle: () => void }) {
  const { filesOpen, files, filesDone, bytes, bytesSent, bytesPerSecond, secondsLeft } = totals;
  const isRunning = filesOpen > 0;
  return (
    <div className="border-b border-line ps-4 pe-2 pt-2 pb-3">
      <div className="flex items-center gap-1">
        <h2 className="min-w-0 flex-1 truncate font-medium">{titleOf(totals)}</h2>
        <IconButton
          label={isOpen ? text.collapse : text.expand}
          aria-expanded={isOpen}
          icon={isOpen ? ChevronDown : ChevronUp}
          onClick={onToggle}
        />
        {!isRunning && <IconButton label={text.close} icon={X} onClick={() => close(totals)} />}
      </div>
      <p className="flex flex-wrap gap-x-3 pe-2 pb-2 text-sm text-muted tabular-nums">
        <span>{text.doneOf({ done: filesDone, all: files })}</span>
        <span>{text.progressOf({ sent: bytesSent, size: bytes })}</span>
        {isRunning && bytesPerSecond !== undefined && (
          <span>{text.speed({ bytesPerSecond: Math.round(bytesPerSecond) })}</span>
        )}
        {isRunning && secondsLeft !== undefined && <span>{text.left({ seconds: secondsLeft })}</span>}
      </p>
      <div className="pe-2">
        <Progress
          label={text.totalProgress}
          value={bytes === 0 ? filesDone / Math.max(files, 1) : bytesSent / bytes}
          tone={totals.isStalled ? "warning" : "accent"}
        />
      </div>
    </div>
  );
}

function TrayFooter({ totals }: { totals: UploadTotals }) {
  const engine = uploadEngine();
  const { filesOpen, filesDone, filesBlocked, isPaused } = totals;
  const isUnfinished = filesOpen > 0 || isPaused || filesBlocked > 0;
  return (
    <div className="flex flex-wrap gap-1 border-t border-line px-2 py-1.5">
      {filesOpen > 0 && (
        <Button variant="quiet" size="small" onClick={() => engine.pauseAll()}>
          {text.pauseAll}
        </Button>
      )}
      {isPaused && (
        <Button variant="quiet" size="small" onClick={() => engine.resumeAll()}>
          {text.resumeAll}
        </Button>
      )}
      {isUnfinished && (
        <Button variant="quiet" size="small" onClick={cancelAll}>
          {text.cancelAll}
        </Button>
      )}
      {filesDone > 0 && (
        <Button variant="quiet" size="small" className="ms-auto" onClick={() => engine.clearEnded()}>
          {text.clearDone}
        </Button>
      )}
    </div>
  );
}

/** The state of all uploads as a short title. */
function titleOf(totals: UploadTotals): string {
  const { filesOpen, filesDone, filesBlocked, isPaused, isStalled, isSending } = totals;
  if (filesOpen > 0 && isStalled && !isSending) return text.waitingTitle;
  if (filesOpen > 0) return text.uploading({ n: filesOpen });
  if (filesBlocked > 0) return text.needsAttention({ n: filesBlocked });
  return isPaused ? text.pausedTitle : text.uploaded({ n: filesDone });
}

function close(totals: UploadTotals): void {
  if (totals.filesBlocked > 0 || totals.isPaused) cancelAll();
  else uploadEngine().clearEnded();
}

function cancelAll(): void {
  const confirmation = {
    title: text.cancelAllTitle,
    body: text.cancelAllBody,
    action: text.cancelAll,
    cancel: text.keepUploading,
    danger: true,
  };
  confirmThen(confirmation, () => uploadEngine().cancelAll());
}

/** How "Share → Larder" opened the page, until that is dismissed. */
function useSharedAddress(initial: string | null): readonly [shared: string | null, forget: () => void] {
  const [shared, setShared] = useState(initial);
  const setSearch = useSetTextSearch();
  const dismiss = () => {
    setShared(null);
    setSearch({ shared: undefined });
  };
  return [shared, dismiss];
}
