import { Dialog as Base } from "@base-ui/react/dialog";
import { type RefObject, Suspense, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { announce } from "../../base/announce.ts";
import { useOverlay } from "../../base/overlays.ts";
import type { FileRecord } from "../../api/types.ts";
import type { PreviewedFile } from "../preview-source.ts";
import { useCanWrite } from "../../api/session.ts";
import { lazyPart } from "../../ui/lazy-part.ts";
import { EntryDialogs } from "../dialogs/entry-dialogs.tsx";
import { useEditActions } from "../editing/use-edit-actions.tsx";
import { largeAddress } from "./addresses.ts";
import { previewKind } from "./kind.ts";
import { Loading } from "./loading.tsx";
import { PreviewHeader } from "./preview-header.tsx";
import { Stage } from "./stage.tsx";
import { Steps } from "./steps.tsx";
import { text } from "./text.ts";
import { usePreviewSlideshow } from "../slideshow/use-preview-slideshow.tsx";
import { useRightsOf } from "../rights.ts";
import { useFileActions } from "./use-file-actions.ts";
import { useFileWithMotion } from "./use-motion.ts";
import { usePreviewKeys } from "./use-preview-keys.ts";
import { type StepProps, useSteps } from "./use-steps.ts";

const DetailsPanel = lazyPart(() => import("../details/details-panel.tsx").then((part) => part.DetailsPanel));

/** From this width on, the details are next to the file. Below, they cover it. */
const BESIDE = window.matchMedia("(min-width: 40rem)");

/** Props of the preview. */
export interface PreviewProps extends StepProps {
  readonly onClose: () => void;
}

/**
 * Shows files in an overlay, one at a time, with the actions on them. Arrow keys, Home and End go to other files, Escape
 * closes and returns the focus. After a file is moved to the trash, the next one follows.
 */
export function Preview(props: PreviewProps) {
  const { items, index, onClose } = props;
  const mayWrite = useCanWrite();
  const popup = useRef<HTMLDivElement>(null);
  const details = useDetails();
  const file = useFileWithMotion(items[index]);
  const { position, total, go, moves } = useSteps(props);
  const rightsOf = useRightsOf();
  const editing = useEditActions(file, mayWrite && file !== undefined && rightsOf(file).canChange);
  const slideshow = usePreviewSlideshow(items, file, props.onIndexChange);
  const actions = [
    ...slideshow.actions,
    ...useFileActions(file, {
      hasDetails: details.isOpen,
      onDetails: details.toggle,
      onTrash: () => {
        if (!go(1)) onClose();
      },
    }),
    ...editing.actions,
  ];
  const onKeyDown = usePreviewKeys(popup, moves, actions);
  useFocus(popup, file?.id);
  usePreloadedNeighbours(items[index - 1], items[index + 1]);
  const isCounted = position !== undefined && total !== undefined;
  useAnnouncement(
    file === undefined || !isCounted ? "" : text.announce({ name: file.name, n: position + 1, all: total }),
  );
  if (file === undefined) return null;

  return (
    <Base.Root
      open
      // The overlay fills the window. What is outside of it are messages, with buttons to press.
      disablePointerDismissal
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
          <PreviewHeader
            file={file}
            position={isCounted ? text.position({ n: position + 1, all: total }) : ""}
            actions={actions}
            onClose={onClose}
          />
          <div className="relative flex min-h-0 flex-1">
            <div className="relative min-w-0 flex-1">
              <SuspendedStage key={file.id} file={file} onSwipe={moves.step} />
              {(total ?? items.length) > 1 && (
                <Steps isFirst={position === 0} isLast={isCounted && position === total - 1} onStep={moves.step} />
              )}
            </div>
            {details.isOpen && <Details file={file} onClose={details.toggle} />}
          </div>
          <EntryDialogs isInPreview />
          {editing.dialog}
          {slideshow.slideshow}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

function SuspendedStage(props: { readonly file: PreviewedFile; readonly onSwipe: (by: 1 | -1) => void }) {
  return (
    <Suspense fallback={<Loading />}>
      <Stage {...props} />
    </Suspense>
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

/** Whether the details are open. On phones they cover the file, so Back closes them. */
function useDetails() {
  const [isBesideOpen, setBesideOpen] = useState(false);
  const overlay = useOverlay("details");
  const isBeside = useSyncExternalStore(followWidth, () => BESIDE.matches);
  const isCovering = overlay.value !== undefined;
  if (isBeside && !isCovering) {
    return { isOpen: isBesideOpen, toggle: () => setBesideOpen(!isBesideOpen) };
  }
  return { isOpen: isCovering, toggle: () => (isCovering ? overlay.close() : overlay.open("on")) };
}

function followWidth(onChange: () => void): () => void {
  BESIDE.addEventListener("change", onChange);
  return () => BESIDE.removeEventListener("change", onChange);
}

/**
 * Returns the focus to the previous element when the overlay closes in any way. While it is open, it takes the focus if
 * the control that had it, such as one of the last file, is gone: otherwise no key would work.
 */
function useFocus(popup: RefObject<HTMLElement | null>, id: string | undefined): void {
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
  useEffect(() => {
    if (document.activeElement === document.body) popup.current?.focus();
  }, [popup, id]);
}

function useAnnouncement(announcement: string): void {
  useEffect(() => {
    if (announcement !== "") announce(announcement);
  }, [announcement]);
}

function usePreloadedNeighbours(...neighbours: readonly (FileRecord | undefined)[]): void {
  const addresses = neighbours
    .flatMap((file) =>
      file !== undefined && file.hasThumbnail && previewKind(file) === "image" ? [largeAddress(file)] : [],
    )
    .join("\n");
  useEffect(() => {
    for (const address of addresses.split("\n").filter((one) => one !== "")) new Image().src = address;
  }, [addresses]);
}
