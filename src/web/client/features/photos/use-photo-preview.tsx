import { type ReactNode, Suspense, useRef, useState } from "react";
import { messageOf } from "../../api/http.ts";
import type { FileRecord } from "../../api/types.ts";
import { lazyPart } from "../../ui/lazy-part.ts";
import { toast } from "../../ui/toast.tsx";
import type { PhotoRecord } from "./api.ts";
import { dayOf, type Wall } from "./use-wall.ts";

const Preview = lazyPart(() => import("../preview/preview.tsx").then((part) => part.Preview));

type PhotoFile = PhotoRecord & FileRecord;

interface Shown {
  readonly files: readonly PhotoFile[];
  readonly index: number;
  /** Indexes of the chunks that `files` are of, both included. */
  readonly firstChunk: number;
  readonly lastChunk: number;
}

/** So near to the end of what is loaded the next piece is fetched. */
const NEAR = 3;

/** Shows photos one after another, over the borders of what is loaded. @param onClosed told which was shown last */
export function usePhotoPreview(wall: Wall, onClosed: (photo: PhotoRecord) => void) {
  const [shown, setShown] = useState<Shown>();
  const isLoading = useRef(false);

  const open = async (photo: PhotoRecord) => {
    const at = wall.chunks.findIndex((chunk) => chunk === wall.chunkOf(dayOf(photo)));
    const chunk = wall.chunks[at];
    if (chunk === undefined || isLoading.current) return;
    isLoading.current = true;
    try {
      const files = await wall.loadRecords(chunk);
      const index = files.findIndex(({ id }) => id === photo.id);
      if (index >= 0) show({ files, index, firstChunk: at, lastChunk: at });
    } catch (error) {
      toast({ text: messageOf(error), tone: "danger" });
    } finally {
      isLoading.current = false;
    }
  };

  const show = (next: Shown) => {
    setShown(next);
    if (next.index >= next.files.length - NEAR) extend(next.lastChunk + 1, false).catch(stay);
    else if (next.index < NEAR) extend(next.firstChunk - 1, true).catch(stay);
  };

  const extend = async (at: number, isBefore: boolean) => {
    const chunk = wall.chunks[at];
    if (chunk === undefined) return;
    const files = await wall.loadRecords(chunk);
    setShown((now) => {
      if (now === undefined || (isBefore ? now.firstChunk - 1 : now.lastChunk + 1) !== at) return now;
      return isBefore
        ? { ...now, files: [...files, ...now.files], index: now.index + files.length, firstChunk: at }
        : { ...now, files: [...now.files, ...files], lastChunk: at };
    });
  };

  const close = () => {
    const photo = shown?.files[shown.index];
    setShown(undefined);
    if (photo !== undefined) onClosed(photo);
  };

  const preview: ReactNode = shown !== undefined && (
    <Suspense fallback={null}>
      <Preview
        items={shown.files}
        index={shown.index}
        onIndexChange={(index: number) => show({ ...shown, index })}
        onClose={close}
      />
    </Suspense>
  );
  return { open, preview };
}

/** What can't be loaded is not gone on to; what is known is still shown. */
function stay(): void {
  return;
}
