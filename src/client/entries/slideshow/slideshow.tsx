import { Dialog as Base } from "@base-ui/react/dialog";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { announce } from "../../base/announce.ts";
import { useDialogEntry } from "../../base/overlays.ts";
import { Controls } from "./controls.tsx";
import { useSlideInterval } from "./interval.ts";
import { Slide, slideAddress } from "./slide.tsx";
import { isVideo, neighborOf, type SlideFile } from "./slides.ts";
import { text } from "./text.ts";
import { useFullScreen } from "./use-full-screen.ts";
import { useWakeLock } from "./use-wake-lock.ts";

/** A file that can't be shown is skipped after this time. */
const SKIP_SECONDS = 1;
/** The controls disappear after this time without a movement or a key. */
const CONTROLS_MS = 3_000;

/** Props of {@link Slideshow}. */
export interface SlideshowProps {
  readonly slides: readonly SlideFile[];
  /** The id of the slide that is shown. */
  readonly current: string;
  readonly onChange: (id: string) => void;
  readonly onClose: () => void;
}

/**
 * Shows photos and videos one after the other in full screen. Space pauses, arrow keys move, Escape and Back end it.
 * Videos play to their end.
 */
export function Slideshow({ slides, current, onChange, onClose }: SlideshowProps) {
  const [isPlaying, setPlaying] = useState(true);
  const [intervalSeconds] = useSlideInterval();
  const popup = useRef<HTMLDivElement>(null);
  const target = slides.find(({ id }) => id === current) ?? slides[0];
  const { shown, before, hasFailed } = useLoaded(target);
  const { areVisible, show } = useControls(isPlaying);
  useDialogEntry(true, onClose);
  useFullScreen(onClose);
  useWakeLock(isPlaying);
  const step = (by: 1 | -1) => {
    const next = neighborOf(slides, current, by);
    if (next !== undefined) onChange(next.id);
  };
  usePreloaded(neighborOf(slides, current, 1));

  const isReady = shown?.id === current;
  const isTimed = isPlaying && isReady && (hasFailed || !isVideo(shown));
  useTimer(isTimed ? (hasFailed ? SKIP_SECONDS : intervalSeconds) : undefined, current, () => step(1));

  const move = (by: 1 | -1) => {
    const next = neighborOf(slides, current, by);
    if (next !== undefined) announce(next.name);
    step(by);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    show();
    const by = moveOf(event);
    if (by !== undefined) move(by);
    else if (isPause(event)) setPlaying(!isPlaying);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <Base.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Base.Portal>
        <Base.Popup
          ref={popup}
          initialFocus={popup}
          onKeyDown={onKeyDown}
          onPointerMove={show}
          onPointerDown={show}
          className="fixed inset-0 z-[60] overflow-hidden bg-black text-white outline-none"
        >
          <Base.Title className="sr-only">{text.title}</Base.Title>
          {before !== undefined && before.id !== shown?.id && (
            <Slide key={before.id} file={before} isPlaying={false} onEnded={ignoreEnd} />
          )}
          {shown !== undefined && <Slide key={shown.id} file={shown} isPlaying={isPlaying} onEnded={() => step(1)} />}
          <Controls
            areVisible={areVisible}
            isPlaying={isPlaying}
            onPlaying={setPlaying}
            onMove={move}
            onClose={onClose}
          />
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

function ignoreEnd(): void {}

/** The direction of an arrow key: the next slide is to the left if the page reads from right to left. */
function moveOf(event: KeyboardEvent): 1 | -1 | undefined {
  if (isForControl(event)) return undefined;
  const forward = document.documentElement.dir === "rtl" ? "ArrowLeft" : "ArrowRight";
  if (event.key === forward) return 1;
  return event.key === "ArrowLeft" || event.key === "ArrowRight" ? -1 : undefined;
}

/** Space, except on a button: there it presses the button. */
function isPause(event: KeyboardEvent): boolean {
  return event.key === " " && !isForControl(event) && !(event.target instanceof HTMLButtonElement);
}

function isForControl(event: KeyboardEvent): boolean {
  return event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLSelectElement;
}

/** Calls `onTime` when a slide has been shown for some seconds. Undefined stops the time. */
function useTimer(seconds: number | undefined, slide: string, onTime: () => void): void {
  const latest = useRef(onTime);
  latest.current = onTime;
  useEffect(() => {
    if (seconds === undefined) return undefined;
    const timer = setTimeout(() => latest.current(), seconds * 1000);
    return () => clearTimeout(timer);
  }, [seconds, slide]);
}

interface Loaded {
  readonly shown: SlideFile | undefined;
  /** The slide before, which stays below while the next one fades in. */
  readonly before: SlideFile | undefined;
  readonly hasFailed: boolean;
}

/** The slide whose picture is loaded: the last one stays until the next can be shown. */
function useLoaded(target: SlideFile | undefined): Loaded {
  const [loaded, setLoaded] = useState<Loaded>({ shown: undefined, before: undefined, hasFailed: false });
  useEffect(() => {
    if (target === undefined) return undefined;
    let isOver = false;
    const show = (hasFailed: boolean) => {
      if (isOver) return;
      setLoaded(({ shown }) => ({ shown: target, before: shown, hasFailed }));
    };
    if (isVideo(target)) show(false);
    else {
      const image = new Image();
      image.src = slideAddress(target);
      image.decode().then(
        () => show(false),
        () => show(true),
      );
    }
    return () => {
      isOver = true;
    };
    // A list that is loaded again has new objects for the same files.
    // oxlint-disable-next-line react/exhaustive-deps -- see above
  }, [target?.id]);
  return loaded;
}

/** Loads the next slide, so that it appears without a pause. */
function usePreloaded(next: SlideFile | undefined): void {
  const address = next === undefined || isVideo(next) ? undefined : slideAddress(next);
  useEffect(() => {
    if (address !== undefined) new Image().src = address;
  }, [address]);
}

/** Whether the controls are visible: while paused, and for a moment after each movement. */
function useControls(isPlaying: boolean) {
  const [movedAt, setMovedAt] = useState(0);
  const [isRecent, setRecent] = useState(true);
  useEffect(() => {
    setRecent(true);
    const timer = setTimeout(() => setRecent(false), CONTROLS_MS);
    return () => clearTimeout(timer);
  }, [movedAt]);
  const show = () => setMovedAt((before) => (Date.now() - before > CONTROLS_MS / 4 ? Date.now() : before));
  return { areVisible: isRecent || !isPlaying, show };
}
