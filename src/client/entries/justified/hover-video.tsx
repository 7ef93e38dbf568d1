import { useEffect, useRef, useState } from "react";
import { apiAddress } from "../../api/http.ts";

/** How long the mouse must rest on a tile, so that moving across the grid loads no videos. */
const REST_MS = 350;

/** Devices with a mouse, except those that reduce motion. */
const PLAYS = window.matchMedia("(hover: hover) and (prefers-reduced-motion: no-preference)");

/**
 * Plays the video of a Live Photo without sound while the mouse is on its tile, unless the device reduces motion. If
 * the browser can't play the video, nothing is shown.
 */
export function HoverVideo({ id }: { readonly id: string }) {
  const anchor = useRef<HTMLSpanElement>(null);
  const [isPlaying, setPlaying] = useState(false);
  useEffect(() => {
    const tile = anchor.current?.parentElement;
    if (tile === null || tile === undefined) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const start = () => {
      clearTimeout(timer);
      if (PLAYS.matches) timer = setTimeout(() => setPlaying(true), REST_MS);
    };
    const end = () => {
      clearTimeout(timer);
      setPlaying(false);
    };
    const stop = new AbortController();
    const { signal } = stop;
    // The mouse may have been on the tile before this script was loaded.
    if (tile.matches(":hover")) start();
    tile.addEventListener("pointerenter", ({ pointerType }) => pointerType === "mouse" && start(), { signal });
    tile.addEventListener("pointerleave", end, { signal });
    // A press opens the photo, or drags it.
    tile.addEventListener("pointerdown", end, { signal });
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, []);
  return (
    <span ref={anchor} aria-hidden>
      {isPlaying && (
        // oxlint-disable-next-line jsx-a11y/media-has-caption -- it has no sound
        <video
          src={apiAddress(`/api/files/${id}/motion`, { preview: true })}
          autoPlay
          muted
          loop
          playsInline
          onError={() => setPlaying(false)}
          className="pointer-events-none absolute inset-0 size-full object-cover"
        />
      )}
    </span>
  );
}
