import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { FileRecord } from "../../api/types.ts";
import { fileInfoQuery } from "../details/api.ts";

/** The types of the photos that phones make with a video. */
const LIVE_TYPES = /^image\/(jpeg|heic|heif)$/;

/**
 * The file, with `motion` if it is a Live Photo. Only lists of photos and albums say so; for files of other lists, this
 * reads the full record. If that fails, the photo is shown without its video.
 */
export function useFileWithMotion(file: FileRecord | undefined): FileRecord | undefined {
  const isPast = file?.contentAvailable !== undefined || file?.isDeleted === true;
  const isUnknown = file !== undefined && !("motion" in file) && !isPast && LIVE_TYPES.test(file.mimeType);
  const { data } = useQuery({ ...fileInfoQuery(file?.id ?? ""), enabled: isUnknown });
  const motion = isUnknown && data?.id === file.id ? data.motion : null;
  return useMemo(() => (file === undefined || motion === null ? file : { ...file, motion }), [file, motion]);
}
