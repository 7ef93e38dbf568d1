import { Music } from "lucide-react";
import { useState } from "react";
import type { FileRecord } from "../../api/types.ts";
import { contentAddress, largeAddress } from "./addresses.ts";
import { NoPreview } from "./no-preview.tsx";
import { text } from "./text.ts";

/** Video and audio in the browser's own player, which seeks with range requests. */
export function MediaView({ file, kind }: { readonly file: FileRecord; readonly kind: "video" | "audio" }) {
  const [hasFailed, setHasFailed] = useState(false);
  if (hasFailed) return <NoPreview file={file} message={text.mediaFailed} />;
  const player = {
    src: contentAddress(file),
    controls: true,
    preload: "metadata",
    "aria-label": file.name,
    onError: () => setHasFailed(true),
  } as const;
  if (kind === "video") {
    return (
      <div className="flex size-full items-center justify-center p-2 sm:px-16">
        {/* oxlint-disable-next-line jsx-a11y/media-has-caption -- any captions are in the file itself */}
        <video
          {...player}
          playsInline
          {...(file.hasThumbnail && { poster: largeAddress(file) })}
          className="max-h-full max-w-full"
        />
      </div>
    );
  }
  return (
    <div className="flex size-full flex-col items-center justify-center gap-6 px-16">
      <span className="inline-flex size-32 items-center justify-center rounded-3xl bg-accent-soft text-accent">
        <Music aria-hidden size={56} strokeWidth={1.25} />
      </span>
      <p className="max-w-full text-center font-medium break-words">{file.name}</p>
      {/* oxlint-disable-next-line jsx-a11y/media-has-caption -- audio files have no captions */}
      <audio {...player} className="w-full max-w-lg" />
    </div>
  );
}
