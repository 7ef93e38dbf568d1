import { CircleDot, Volume2, VolumeX } from "lucide-react";
import { type RefObject, useEffect, useState } from "react";
import type { FileRecord } from "../../api/types.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import { toast } from "../../ui/toast.tsx";
import { motionAddress } from "../live.ts";
import { text } from "./text.ts";

/** A finger or the mouse that rests for so long plays the video until it is lifted. */
const HOLD_MS = 400;
/** A press that moves farther is a swipe, in pixels. */
const REST_PIXELS = 8;

/** The video of a Live Photo, over its picture while it plays, silent at first. Holding the picture plays it too. */
export function LiveLayer({
  file,
  frame,
}: {
  readonly file: FileRecord;
  /** Contains the picture and this layer. */
  readonly frame: RefObject<HTMLElement | null>;
}) {
  const [isPlaying, setPlaying] = useState(false);
  const [isMuted, setMuted] = useState(true);
  useHold(frame, setPlaying);
  return (
    <>
      {isPlaying && (
        // oxlint-disable-next-line jsx-a11y/media-has-caption -- these videos have no captions
        <video
          src={motionAddress(file, true)}
          autoPlay
          muted={isMuted}
          playsInline
          aria-label={text.liveVideo({ name: file.name })}
          onEnded={() => setPlaying(false)}
          onError={() => {
            setPlaying(false);
            toast({ text: text.mediaFailed, tone: "danger" });
          }}
          className="pointer-events-none absolute inset-0 size-full bg-sunken object-contain"
        />
      )}
      <div className="absolute start-3 top-3 flex items-center rounded-xl border border-line-strong bg-raised shadow-lg">
        <button
          type="button"
          aria-pressed={isPlaying}
          onClick={() => setPlaying(!isPlaying)}
          className="control inline-flex items-center gap-1.5 rounded-xl px-3 text-sm font-medium hover:bg-sunken"
        >
          <CircleDot aria-hidden size={18} />
          {text.live}
        </button>
        <IconButton
          label={isMuted ? text.unmute : text.mute}
          icon={isMuted ? VolumeX : Volume2}
          onClick={() => setMuted(!isMuted)}
        />
      </div>
    </>
  );
}

/** Calls `onHold` with true when a press rests, which is neither a click nor a swipe, and with false at its end. */
function useHold(frame: RefObject<HTMLElement | null>, onHold: (isResting: boolean) => void): void {
  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    let press: { readonly timer: ReturnType<typeof setTimeout>; readonly x: number; readonly y: number } | undefined;
    let isResting = false;
    const end = () => {
      clearTimeout(press?.timer);
      press = undefined;
      if (isResting) onHold(false);
      isResting = false;
    };
    const start = ({ clientX: x, clientY: y, isPrimary, button, target }: PointerEvent) => {
      end();
      if (!isPrimary || button !== 0 || (target instanceof Element && target.closest("button") !== null)) return;
      const timer = setTimeout(() => {
        isResting = true;
        onHold(true);
      }, HOLD_MS);
      press = { timer, x, y };
    };
    const move = ({ clientX, clientY }: PointerEvent) => {
      if (press === undefined || isResting) return;
      if (Math.hypot(clientX - press.x, clientY - press.y) > REST_PIXELS) end();
    };
    // The browser's own image menu would open on a long press.
    const onMenu = (event: Event) => isResting && event.preventDefault();
    const stop = new AbortController();
    const { signal } = stop;
    element.addEventListener("pointerdown", start, { signal });
    element.addEventListener("pointermove", move, { signal });
    element.addEventListener("pointerup", end, { signal });
    element.addEventListener("pointercancel", end, { signal });
    element.addEventListener("contextmenu", onMenu, { signal });
    return () => {
      stop.abort();
      end();
    };
  }, [frame, onHold]);
}
