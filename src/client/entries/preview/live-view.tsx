import { CircleDot, Volume2, VolumeX } from "lucide-react";
import { type MouseEvent, type PointerEvent, useEffect, useRef, useState } from "react";
import type { FileRecord } from "../../api/types.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import { toast } from "../../ui/toast.tsx";
import { motionAddress } from "../live.ts";
import { ImageView } from "./image-view.tsx";
import { text } from "./text.ts";

/** A finger or the mouse that rests for so long plays the video until it is lifted. */
const HOLD_MS = 400;
/** A press that moves farther is a swipe, in pixels. */
const REST_PIXELS = 8;

/** A Live Photo: the picture, and its video over it while it plays, silent at first. */
export function LiveView({ file, onSwipe }: { readonly file: FileRecord; readonly onSwipe: (by: 1 | -1) => void }) {
  const [isPlaying, setPlaying] = useState(false);
  const [isMuted, setMuted] = useState(true);
  const hold = useHold(
    () => setPlaying(true),
    () => setPlaying(false),
  );
  return (
    <div className="relative size-full" {...hold}>
      <ImageView file={file} onSwipe={onSwipe} />
      {isPlaying && (
        // oxlint-disable-next-line jsx-a11y/media-has-caption -- these videos have no captions
        <video
          src={motionAddress(file, true)}
          autoPlay
          muted={isMuted}
          playsInline
          aria-label={text.liveVideo(file.name)}
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
    </div>
  );
}

/** Handlers for a resting press, which is neither a click nor a swipe. */
function useHold(onStart: () => void, onEnd: () => void) {
  const press = useRef<{ timer: ReturnType<typeof setTimeout>; x: number; y: number; isResting: boolean }>(undefined);
  const end = () => {
    clearTimeout(press.current?.timer);
    if (press.current?.isResting === true) onEnd();
    press.current = undefined;
  };
  useEffect(() => () => clearTimeout(press.current?.timer), []);
  return {
    onPointerDown: ({ clientX: x, clientY: y, isPrimary, button, target }: PointerEvent) => {
      end();
      if (!isPrimary || button !== 0 || (target instanceof Element && target.closest("button") !== null)) return;
      const timer = setTimeout(() => {
        if (press.current !== undefined) press.current.isResting = true;
        onStart();
      }, HOLD_MS);
      press.current = { timer, x, y, isResting: false };
    },
    onPointerMove: ({ clientX, clientY }: PointerEvent) => {
      const start = press.current;
      if (start === undefined || start.isResting) return;
      if (Math.hypot(clientX - start.x, clientY - start.y) > REST_PIXELS) end();
    },
    onPointerUp: end,
    onPointerCancel: end,
    // The browser's own image menu would open on a long press.
    onContextMenu: (event: MouseEvent) => press.current?.isResting === true && event.preventDefault(),
  };
}
