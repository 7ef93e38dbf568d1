import { CircleDot, Film, Play } from "lucide-react";
import { Check, Image as ImageIcon, Star } from "../../ui/icons.ts";
import { memo, type MouseEvent, type RefObject, Suspense, useEffect, useState } from "react";
import { lazyPart } from "../../ui/lazy-part.ts";
import { cx } from "../../ui/cx.ts";
import { formatDuration } from "../../base/format.ts";
import { useLongPress } from "../../ui/use-long-press.ts";
import { usePicture } from "../../ui/use-picture.ts";
import { apiAddress } from "../../api/http.ts";
import { ShareIcons } from "../collection/share-marks.tsx";
import { describeShares } from "../share-marks.ts";
import { formatMoment } from "./dates.ts";
import { text } from "./text.ts";
import type { GridItem } from "./types.ts";

const HoverVideo = lazyPart(() => import("./hover-video.tsx").then((part) => part.HoverVideo));

/** The smallest thumbnail is enough for a tile of up to this many device pixels. */
const SMALL_PIXELS = 128;

/** While the grid is scrolled, a thumbnail is requested only after its tile has been rendered for this long. */
const REST_MS = 100;

/** Events of a tile. */
export interface TileEvents {
  readonly onOpen: (index: number) => void;
  readonly onToggle: (index: number, isRange: boolean) => void;
  readonly onFocus: (index: number) => void;
}

interface TileProps {
  /** Undefined while it is loading. */
  readonly item: GridItem | undefined;
  readonly index: number;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly isSelected: boolean;
  /** Whether any photo is selected. If so, a press selects instead of opening. */
  readonly isSelecting: boolean;
  /** Whether this tile is the tab stop. */
  readonly isCurrent: boolean;
  readonly events: TileEvents;
  /** When the grid was last scrolled, by `performance.now()`. */
  readonly scrolledAt: RefObject<number>;
}

/** One photo of the grid: a button that opens it, and a checkbox that selects it. */
export const Tile = memo(function Tile({ left, top, width, height, ...tile }: TileProps) {
  const position = { insetInlineStart: left, top, width, height };
  if (tile.item === undefined) return <div className="absolute rounded-sm bg-sunken" style={position} aria-hidden />;
  return (
    <div className="group absolute" style={position}>
      <Content {...tile} item={tile.item} side={Math.max(width, height)} />
    </div>
  );
});

/** A tile whose photo is loaded. */
function Content({
  item: photo,
  side,
  index,
  isSelected,
  isSelecting,
  isCurrent,
  events,
  scrolledAt,
}: Omit<TileProps, "left" | "top" | "width" | "height"> & { readonly item: GridItem; readonly side: number }) {
  const press = useLongPress();
  const when = formatMoment(photo.takenAt);
  const isLive = photo.motion === "pair" || photo.motion === "embedded";
  const onClick = (event: MouseEvent) => {
    if (press.isEndOfPress()) return;
    if (isSelecting || event.shiftKey || event.ctrlKey || event.metaKey) events.onToggle(index, event.shiftKey);
    else events.onOpen(index);
  };
  return (
    <>
      <button
        type="button"
        data-photo={index}
        tabIndex={isCurrent ? 0 : -1}
        aria-label={
          photo.isVideo
            ? text.video({ name: photo.name, when, length: formatDuration(photo.durationSeconds ?? 0) })
            : isLive
              ? text.livePhoto({ name: photo.name, when })
              : text.photo({ name: photo.name, when })
        }
        onClick={onClick}
        onFocus={() => events.onFocus(index)}
        onPointerDown={(event) => press.start(event, () => events.onToggle(index, false))}
        onPointerMove={press.move}
        onPointerUp={press.end}
        onPointerCancel={press.end}
        onPointerLeave={press.end}
        // The browser's own image menu would open on a long press.
        onContextMenu={(event) => press.wasLong() && event.preventDefault()}
        className={cx(
          "block size-full touch-manipulation overflow-hidden rounded-sm bg-sunken select-none",
          "focus-visible:outline-3 focus-visible:-outline-offset-3",
        )}
      >
        <Picture photo={photo} side={side} isSelected={isSelected} scrolledAt={scrolledAt} />
        {isLive && !isSelecting && (
          <Suspense fallback={null}>
            <HoverVideo id={photo.id} />
          </Suspense>
        )}
        {/* The space separates the mark from the name, which is shown if there is no thumbnail. */}{" "}
        {isLive && <LiveBadge />}
        {photo.isVideo && <VideoLength seconds={photo.durationSeconds} />}
        {photo.isFavorite === true && <FavoriteMark />}
        {photo.shared !== null && photo.shared !== undefined && <PhotoShareMark shared={photo.shared} />}
      </button>
      <TileCheckbox
        label={text.select({ name: photo.name })}
        isSelected={isSelected}
        isSelecting={isSelecting}
        onClick={(event) => events.onToggle(index, event.shiftKey)}
      />
    </>
  );
}

function FavoriteMark() {
  return (
    <Star
      role="img"
      aria-label={text.isFavorite}
      className="absolute end-1.5 top-1.5 size-5 fill-white stroke-black/70 drop-shadow"
    />
  );
}

function PhotoShareMark({ shared }: { readonly shared: NonNullable<GridItem["shared"]> }) {
  const label = describeShares({ shared });
  return (
    <span
      role="img"
      aria-label={label}
      title={label}
      className="absolute start-1.5 bottom-1.5 inline-flex gap-1 rounded-md bg-black/70 p-1 text-white"
    >
      <ShareIcons of={{ shared }} className="size-3.5" />
    </span>
  );
}

function LiveBadge() {
  return (
    <span className="absolute end-1.5 bottom-1.5 inline-flex items-center gap-1 rounded-md bg-black/70 px-1.5 py-0.5 text-xs text-white">
      <CircleDot aria-hidden size={12} />
      {text.live}
    </span>
  );
}

function VideoLength({ seconds }: { readonly seconds: number | null }) {
  return (
    <span className="absolute end-1.5 bottom-1.5 inline-flex items-center gap-1 rounded-md bg-black/70 px-1.5 py-0.5 text-xs text-white">
      <Play aria-hidden size={12} fill="currentColor" />
      {seconds !== null && formatDuration(seconds)}
    </span>
  );
}

function TileCheckbox({
  label,
  isSelected,
  isSelecting,
  onClick,
}: {
  readonly label: string;
  readonly isSelected: boolean;
  readonly isSelecting: boolean;
  readonly onClick: (event: MouseEvent) => void;
}) {
  return (
    <>
      <input
        type="checkbox"
        tabIndex={-1}
        checked={isSelected}
        aria-label={label}
        onChange={() => undefined}
        onClick={onClick}
        className={cx(
          "peer absolute start-1 top-1 size-7 cursor-pointer appearance-none rounded-full",
          isSelecting || isSelected ? "" : "opacity-0 group-hover:opacity-100 pointer-coarse:hidden",
        )}
      />
      <span
        aria-hidden
        className={cx(
          "pointer-events-none absolute start-1.5 top-1.5 grid size-6 place-items-center rounded-full border-2",
          "peer-focus-visible:ring-2 peer-focus-visible:ring-focus",
          isSelected ? "border-accent bg-accent text-on-accent" : "border-white bg-black/45 text-transparent",
          isSelecting || isSelected ? "" : "opacity-0 group-hover:opacity-100 pointer-coarse:hidden",
        )}
      >
        <Check size={16} strokeWidth={3} />
      </span>
    </>
  );
}

function Picture({
  photo,
  side,
  isSelected,
  scrolledAt,
}: {
  readonly photo: GridItem;
  /** The longer side of the tile. */
  readonly side: number;
  readonly isSelected: boolean;
  readonly scrolledAt: RefObject<number>;
}) {
  const size = side * window.devicePixelRatio <= SMALL_PIXELS ? "small" : "medium";
  const isAtRest = useIsAtRest(scrolledAt);
  const { src, hasFailed, onError } = usePicture(apiAddress(`/api/files/${photo.id}/download`, { thumbnail: size }));
  if (!photo.hasThumbnail || hasFailed) {
    const Icon = photo.isVideo ? Film : ImageIcon;
    return (
      <span className="flex size-full flex-col items-center justify-center gap-1 p-2 text-muted">
        <Icon aria-hidden size={28} strokeWidth={1.5} />
        <span className="max-w-full truncate text-xs">{photo.name}</span>
      </span>
    );
  }
  if (!isAtRest) return null;
  return (
    <img
      ref={abortWhenRemoved}
      src={src}
      alt=""
      decoding="async"
      draggable={false}
      onError={onError}
      className={cx("size-full object-cover motion-safe:transition-transform", isSelected && "scale-90 rounded-lg")}
    />
  );
}

/** Whether the tile has been in the grid for a moment. Tiles that scroll past quickly request nothing. */
function useIsAtRest(scrolledAt: RefObject<number>): boolean {
  const [isAtRest, setAtRest] = useState(() => performance.now() - scrolledAt.current > REST_MS);
  useEffect(() => {
    if (isAtRest) return;
    const timer = setTimeout(() => setAtRest(true), REST_MS);
    return () => clearTimeout(timer);
  }, [isAtRest]);
  return isAtRest;
}

/** Cancels the download of a removed image. Otherwise, the browser would complete it. */
function abortWhenRemoved(image: HTMLImageElement | null): (() => void) | undefined {
  if (image === null) return undefined;
  return () => {
    if (!image.complete) image.removeAttribute("src");
  };
}
