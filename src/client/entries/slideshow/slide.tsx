import { useEffect, useRef } from "react";
import { apiAddress } from "../../api/http.ts";
import { cx } from "../../ui/cx.ts";
import { isVideo, type SlideFile } from "./slides.ts";

/** The address of the large thumbnail. */
export function slideAddress({ id }: SlideFile): string {
  return apiAddress(`/api/files/${id}/download`, { thumbnail: "large" });
}

/** One photo or video in full size. Appears by fading in, unless the person prefers reduced motion. */
export function Slide({
  file,
  isPlaying,
  onEnded,
}: {
  readonly file: SlideFile;
  readonly isPlaying: boolean;
  /** Called when a video has ended or can't be played. */
  readonly onEnded: () => void;
}) {
  const fade = cx(
    "absolute inset-0 size-full bg-black object-contain",
    "opacity-100 transition-opacity duration-700 starting:opacity-0 motion-reduce:transition-none",
  );
  if (isVideo(file)) return <Video file={file} className={fade} isPlaying={isPlaying} onEnded={onEnded} />;
  return <img src={slideAddress(file)} alt={file.name} draggable={false} className={fade} />;
}

function Video({
  file,
  className,
  isPlaying,
  onEnded,
}: {
  readonly file: SlideFile;
  readonly className: string;
  readonly isPlaying: boolean;
  readonly onEnded: () => void;
}) {
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    const element = video.current;
    if (element === null) return;
    if (!isPlaying) element.pause();
    else {
      element.play().catch(() => {
        // Browsers may refuse to play sound.
        element.muted = true;
        element.play().catch(() => undefined);
      });
    }
  }, [isPlaying]);
  return (
    // oxlint-disable-next-line jsx-a11y/media-has-caption -- any captions are in the file itself
    <video
      ref={video}
      src={apiAddress(`/api/files/${file.id}/download`, { inline: true, preview: true })}
      aria-label={file.name}
      playsInline
      className={className}
      onEnded={onEnded}
      onError={onEnded}
    />
  );
}
