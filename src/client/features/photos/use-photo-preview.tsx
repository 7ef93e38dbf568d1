import { type ReactNode, Suspense, useRef, useState } from "react";
import type { FileRecord } from "../../api/types.ts";
import { lazyPart } from "../../ui/lazy-part.ts";
import type { PhotoRecord } from "./api.ts";
import { adjacentChunk } from "./layout.ts";
import { dayOf, type PhotoLibrary } from "./use-photo-library.ts";
import { showError } from "../../ui/toast.tsx";
import { ignore } from "../../base/ignore.ts";

const Preview = lazyPart(() => import("../../entries/preview/preview.tsx").then((part) => part.Preview));

type PhotoFile = PhotoRecord & FileRecord;

interface PreviewedPhotos {
  readonly files: readonly PhotoFile[];
  /** The photo that is shown. */
  readonly id: string;
  /** The range of days in `files`, both included. Chunk boundaries change as photos come and go. */
  readonly newest: string;
  readonly oldest: string;
}

/** How close to the end of the loaded photos the next chunk is loaded. */
const NEAR = 3;

/**
 * Shows photos in the preview, across chunk boundaries.
 * @param onClosed called with the photo that was shown last
 */
export function usePhotoPreview(library: PhotoLibrary, onClosed: (photo: PhotoRecord) => void) {
  const [shown, setShown] = useState<PreviewedPhotos>();
  const isLoading = useRef(false);

  const open = async (photo: PhotoRecord) => {
    const chunk = library.chunkOf(dayOf(photo));
    if (chunk === undefined || isLoading.current) return;
    isLoading.current = true;
    try {
      const files = await library.loadRecords(chunk);
      if (files.some(({ id }) => id === photo.id)) {
        show({ files, id: photo.id, newest: chunk.from, oldest: chunk.to });
      }
    } catch (error) {
      showError(error);
    } finally {
      isLoading.current = false;
    }
  };

  const show = (next: PreviewedPhotos) => {
    setShown(next);
    const index = indexIn(next);
    if (index >= next.files.length - NEAR) extend(next.oldest, false).catch(ignore);
    if (index < NEAR) extend(next.newest, true).catch(ignore);
  };

  /** Loads the photos beyond a day. Photos of the same chunk on the near side are loaded already. */
  const extend = async (edge: string, isNewer: boolean) => {
    const chunk = adjacentChunk(library.chunks, edge, isNewer);
    if (chunk === undefined) return;
    const loaded = await library.loadRecords(chunk);
    const beyond = loaded.filter((photo) => (isNewer ? dayOf(photo) > edge : dayOf(photo) < edge));
    setShown((now) => {
      if (now === undefined || (isNewer ? now.newest : now.oldest) !== edge) return now;
      // A photo whose day has changed in the meantime keeps its place.
      const files = beyond.filter((photo) => now.files.every(({ id }) => id !== photo.id));
      return isNewer
        ? { ...now, files: [...files, ...now.files], newest: chunk.from }
        : { ...now, files: [...now.files, ...files], oldest: chunk.to };
    });
  };

  const close = () => {
    const photo = shown?.files[indexIn(shown)];
    setShown(undefined);
    if (photo !== undefined) onClosed(photo);
  };

  const preview: ReactNode = shown !== undefined && (
    <Suspense fallback={null}>
      <Preview
        items={shown.files}
        index={indexIn(shown)}
        onIndexChange={(index: number) => show({ ...shown, id: shown.files[index]?.id ?? shown.id })}
        onClose={close}
      />
    </Suspense>
  );
  return { open, preview };
}

function indexIn({ files, id }: PreviewedPhotos): number {
  return files.findIndex((file) => file.id === id);
}
