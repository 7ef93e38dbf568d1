import { Film, Play } from "lucide-react";
import { memo } from "react";
import { apiAddress } from "../../../api/http.ts";
import { formatDuration } from "../../../base/format.ts";
import { formatMoment } from "../../../entries/justified/dates.ts";
import { cx } from "../../../ui/cx.ts";
import { Check, Image as ImageIcon } from "../../../ui/icons.ts";
import { usePicture } from "../../../ui/use-picture.ts";
import { text } from "../text.ts";
import type { LibraryPhoto } from "./api.ts";

/** What is shown of a photo in the dialog. */
interface PhotoTileProps {
  /** Undefined while it is loading. */
  readonly photo: LibraryPhoto | undefined;
  readonly index: number;
  readonly left: number;
  readonly top: number;
  readonly side: number;
  readonly isSelected: boolean;
  /** Whether it is in the album already. */
  readonly isContained: boolean;
  /** Whether it is the tab stop. */
  readonly isCurrent: boolean;
  readonly onToggle: (index: number, isRange: boolean) => void;
  readonly onFocus: (index: number) => void;
}

/** A photo that can be chosen: a checkbox. One that is in the album already is marked, and can't be changed. */
export const PhotoTile = memo(function PhotoTile({ photo, left, top, side, ...tile }: PhotoTileProps) {
  const position = { insetInlineStart: left, top, width: side, height: side };
  if (photo === undefined) return <div className="absolute rounded-md bg-sunken" style={position} aria-hidden />;
  const { index, isSelected, isContained, isCurrent, onToggle, onFocus } = tile;
  const isChecked = isSelected || isContained;
  return (
    <button
      type="button"
      role="checkbox"
      data-photo={index}
      aria-checked={isChecked}
      aria-disabled={isContained}
      aria-label={labelOf(photo, isContained)}
      tabIndex={isCurrent ? 0 : -1}
      onClick={(event) => onToggle(index, event.shiftKey)}
      onFocus={() => onFocus(index)}
      style={position}
      className={cx(
        "absolute touch-manipulation overflow-hidden rounded-md bg-sunken select-none",
        "focus-visible:outline-3 focus-visible:-outline-offset-3",
        isSelected && "ring-3 ring-accent ring-inset",
      )}
    >
      <Picture photo={photo} className={cx(isSelected && "scale-88 rounded-md", isContained && "opacity-45")} />
      <span
        aria-hidden
        className={cx(
          "absolute start-1.5 top-1.5 grid size-6 place-items-center rounded-full border-2",
          isContained
            ? "border-line-strong bg-raised text-ink"
            : isSelected
              ? "border-accent bg-accent text-on-accent"
              : "border-white bg-black/45 text-transparent",
        )}
      >
        <Check size={16} strokeWidth={3} />
      </span>
      {isContained && (
        <span
          aria-hidden
          className="absolute inset-x-1 bottom-1 truncate rounded-md bg-raised px-1 py-0.5 text-xs text-ink"
        >
          {text.inAlbum}
        </span>
      )}
      {photo.isVideo && !isContained && (
        <span className="absolute end-1 bottom-1 inline-flex items-center gap-1 rounded-md bg-black/70 px-1.5 py-0.5 text-xs text-white">
          <Play aria-hidden size={10} fill="currentColor" />
          {photo.durationSeconds !== null && formatDuration(photo.durationSeconds)}
        </span>
      )}
    </button>
  );
});

function labelOf({ name, takenAt }: LibraryPhoto, isContained: boolean): string {
  const when = formatMoment(takenAt);
  return isContained ? text.containedPhoto({ name, when }) : text.libraryPhoto({ name, when });
}

function Picture({ photo, className }: { readonly photo: LibraryPhoto; readonly className: string }) {
  const address = apiAddress(`/api/files/${photo.id}/download`, { thumbnail: "medium" });
  const { src, hasFailed, onError } = usePicture(address);
  if (!photo.hasThumbnail || hasFailed) {
    const Icon = photo.isVideo ? Film : ImageIcon;
    return (
      <span className="flex size-full flex-col items-center justify-center gap-1 p-2 text-muted">
        <Icon aria-hidden size={24} strokeWidth={1.5} />
        <span className="max-w-full truncate text-xs">{photo.name}</span>
      </span>
    );
  }
  return (
    <img
      src={src}
      alt=""
      decoding="async"
      draggable={false}
      onError={onError}
      className={cx("size-full object-cover", className)}
    />
  );
}
