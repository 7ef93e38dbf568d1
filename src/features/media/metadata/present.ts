import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import type { MediaInfo } from "./types.ts";

const TextOrNull = t.Union([t.String(), t.Null()]);
const Count = Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]);

/** Embedded metadata as named by the API. */
export const MediaRecord = t.Object(
  {
    width: Count,
    height: Count,
    orientation: Type.Union([Type.Integer({ minimum: 1, maximum: 8 }), Type.Null()]),
    durationSeconds: t.Union([t.Number({ minimum: 0 }), t.Null()]),
    takenAt: TextOrNull,
    camera: TextOrNull,
    location: t.Union([t.Object({ latitude: t.Number(), longitude: t.Number() }), t.Null()]),
    codec: TextOrNull,
    bitrate: Count,
    title: TextOrNull,
    artist: TextOrNull,
    album: TextOrNull,
  },
  { description: "Read from the file shortly after the upload. Pixels as displayed; bits per second" },
);

/** The record of embedded metadata; null if there is none, or it is not read yet. */
export function presentMedia(info: MediaInfo | undefined) {
  if (info === undefined) return null;
  const { durationMs, latitude, longitude, ...rest } = info;
  return {
    ...rest,
    durationSeconds: durationMs === null ? null : durationMs / 1000,
    location: latitude === null || longitude === null ? null : { latitude, longitude },
  };
}
