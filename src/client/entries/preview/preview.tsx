import { Dialog as Base } from "@base-ui/react/dialog";
import { ChevronLeft } from "lucide-react";
import { ChevronRight, Download, Info, X } from "../../ui/icons.ts";
import { type KeyboardEvent, type RefObject, Suspense, useEffect, useRef, useState } from "react";
import { announce } from "../../base/announce.ts";
import { useShortcuts } from "../../base/shortcuts.ts";
import type { FileRecord } from "../../api/types.ts";
import { cx } from "../../ui/cx.ts";
import { FileIcon } from "../../ui/file-icon.tsx";
import { IconButton } from "../../ui/icon-button.tsx";
import { lazyPart } from "../../ui/lazy-part.ts";
import { Tooltip } from "../../ui/tooltip.tsx";
import { downloadAddress, largeAddress } from "./addresses.ts";
import { previewKind } from "./kind.ts";
import { Stage } from "./stage.tsx";
import { text } from "./text.ts";
import { Loading } from "./loading.tsx";

const DetailsPanel = lazyPart(() => import("../details/details-panel.tsx").then((part) => part.DetailsPanel));

/** Props of the preview. */
interface PreviewProps {
  readonly items: readonly FileRecord[];
  readonly index: number;
  readonly onIndexChange: (index: number) => void;
  readonly onClose: () => void;
}

/**
 * Shows files in an overlay, one at a time. Arrow keys, Home and End go to other files, Escape closes and returns the
 * focus, `d` downloads, `i` opens the details.
 */
export function Preview({ items, index, onIndexChange, onClose }: PreviewProps) {
  const [hasDetails, setHasDetails] = useState(false);
  const download = useRef<HTMLAnchorElement>(null);
  const popup = useRef<HTMLDivElement>(null);
  const file = items[index];
  const go = (to: number): void => {
    const target = Math.min(Math.max(to, 0), items.length - 1);
    if (target !== index) onIndexChange(target);
  };
  useFocusReturn();
  usePreloadedNeighbours(items, index);
  useAnnouncement(file === undefined ? "" : text.announce(file.name, index + 1, items.length));
  const actionsByKey: Readonly<Record<string, () => void>> = {
    arrowleft: () => go(index - 1),
    arrowright: () => go(index + 1),
    home: () => go(0),
    end: () => go(items.length - 1),
    d: () => download.current?.click(),
    i: () => setHasDetails((isOpen) => !isOpen),
  };
  useListedShortcuts();
  if (file === undefined) return null;

  const onKeyDown = (event: KeyboardEvent): void => {
    const { target } = event;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (!(target instanceof HTMLElement) || !popup.current?.contains(target) || usesKey(target, event.key)) return;
    const action = actionsByKey[mirrored(event.key.toLowerCase())];
    if (action === undefined) return;
    event.preventDefault();
    action();
  };

  return (
    <Base.Root
      open
      onOpenChange={(isOpen) => {
        if (!isOpen) onClose();
      }}
    >
      <Base.Portal>
        <Base.Popup
          ref={popup}
          initialFocus={popup}
          onKeyDown={onKeyDown}
          className="fixed inset-0 z-50 flex flex-col bg-sunken text-ink outline-none"
        >
          <Header
            file={file}
            position={text.position(index + 1, items.length)}
            downloadRef={download}
            hasDetails={hasDetails}
            onDetails={() => setHasDetails(!hasDetails)}
            onClose={onClose}
          />
          <div className="relative flex min-h-0 flex-1">
            <div className="relative min-w-0 flex-1">
              <Suspense fallback={<Loading />}>
                <Stage key={file.id} file={file} onSwipe={(by) => go(index + by)} />
              </Suspense>
              {items.length > 1 && <Steps index={index} count={items.length} go={go} />}
            </div>
            {hasDetails && <Details file={file} onClose={() => setHasDetails(false)} />}
          </div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

/** The name and position of the file, and its buttons. */
function Header({
  file,
  position,
  downloadRef,
  hasDetails,
  onDetails,
  onClose,
}: {
  readonly file: FileRecord;
  readonly position: string;
  readonly downloadRef: RefObject<HTMLAnchorElement | null>;
  readonly hasDetails: boolean;
  readonly onDetails: () => void;
  readonly onClose: () => void;
}) {
  return (
    <header className="flex items-center gap-1 border-b border-line bg-raised px-2 py-1.5 sm:gap-2 sm:px-4">
      <FileIcon mimeType={file.mimeType} className="hidden sm:block" />
      <div className="min-w-0 flex-1">
        <Base.Title className="truncate text-sm font-medium sm:text-base">{file.name}</Base.Title>
        <p className="text-xs text-muted">{position}</p>
      </div>
      <Tooltip text={text.download}>
        <a
          ref={downloadRef}
          href={downloadAddress(file)}
          download={file.name}
          aria-label={text.downloadOf(file.name)}
          className="control inline-flex aspect-square items-center justify-center rounded-lg hover:bg-sunken"
        >
          <Download aria-hidden size={20} />
        </a>
      </Tooltip>
      <IconButton label={text.details} icon={Info} aria-pressed={hasDetails} onClick={onDetails} />
      <IconButton label={text.close} icon={X} onClick={onClose} />
    </header>
  );
}

function Details({ file, onClose }: { readonly file: FileRecord; readonly onClose: () => void }) {
  return (
    <aside
      aria-label={text.details}
      className="absolute inset-0 z-20 overflow-y-auto border-s border-line bg-raised sm:static sm:w-96"
    >
      <Suspense fallback={<Loading />}>
        <DetailsPanel isFramed={false} entry={file} onClose={onClose} />
      </Suspense>
    </aside>
  );
}

function Steps({
  index,
  count,
  go,
}: {
  readonly index: number;
  readonly count: number;
  readonly go: (to: number) => void;
}) {
  return (
    <>
      <Step label={text.previous} side="start" isFaint={index === 0} onClick={() => go(index - 1)} />
      <Step label={text.next} side="end" isFaint={index === count - 1} onClick={() => go(index + 1)} />
    </>
  );
}

/** At the end it stays, but does nothing, because it may have the focus. */
function Step({
  label,
  side,
  isFaint,
  onClick,
}: {
  label: string;
  side: "start" | "end";
  isFaint: boolean;
  onClick: () => void;
}) {
  const Icon = side === "start" ? ChevronLeft : ChevronRight;
  return (
    <button
      type="button"
      aria-label={label}
      aria-disabled={isFaint || undefined}
      onClick={onClick}
      className={cx(
        "absolute bottom-3 z-10 inline-flex size-11 sm:top-1/2 sm:bottom-auto sm:-translate-y-1/2 items-center justify-center rounded-full",
        "border border-line-strong bg-raised text-ink shadow-lg hover:bg-sunken",
        side === "start" ? "start-2" : "end-2",
        isFaint && "opacity-40",
      )}
    >
      <Icon aria-hidden className="rtl:rotate-180" />
    </button>
  );
}

/** Controls that use arrow keys, Home and End keep them, and text fields keep all keys. */
function usesKey(target: HTMLElement, key: string): boolean {
  if (
    target instanceof HTMLInputElement ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement
  ) {
    return true;
  }
  if (target.isContentEditable || target.closest('[role="tablist"], [role="menu"], aside') !== null)
    return key.length > 1;
  return target instanceof HTMLMediaElement && key.length > 1;
}

/** From right to left the next file is to the left. */
function mirrored(key: string): string {
  if (document.documentElement.dir !== "rtl") return key;
  return key === "arrowleft" ? "arrowright" : key === "arrowright" ? "arrowleft" : key;
}

/** Returns the focus to the previous element when the overlay closes in any way. */
function useFocusReturn(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      // After the overlay's own handling, whose target may be gone.
      requestAnimationFrame(() => {
        const isLost = document.activeElement === null || document.activeElement === document.body;
        if (isLost && before instanceof HTMLElement && before.isConnected) before.focus();
      });
    },
    [before],
  );
}

function useAnnouncement(announcement: string): void {
  useEffect(() => announce(announcement), [announcement]);
}

function usePreloadedNeighbours(items: readonly FileRecord[], index: number): void {
  useEffect(() => {
    for (const neighbour of [items[index + 1], items[index - 1]]) {
      if (neighbour !== undefined && previewKind(neighbour) === "image") new Image().src = largeAddress(neighbour);
    }
  }, [items, index]);
}

function useListedShortcuts(): void {
  const listed = { run: () => undefined, listedOnly: true } as const;
  useShortcuts(text.shortcuts, [
    { keys: "arrowleft", label: text.previous, ...listed },
    { keys: "arrowright", label: text.next, ...listed },
    { keys: "home", label: text.first, ...listed },
    { keys: "end", label: text.last, ...listed },
    { keys: "+", label: text.zoomIn, ...listed },
    { keys: "-", label: text.zoomOut, ...listed },
    { keys: "0", label: text.zoomReset, ...listed },
    { keys: "d", label: text.download, ...listed },
    { keys: "i", label: text.details, ...listed },
    { keys: "escape", label: text.close, ...listed },
  ]);
}
