/** The place of a photo or video, from its position. The towns are loaded at the first one. */
import path from "./towns.bin" with { type: "file" };
import { TownIndex } from "./town-index.ts";
import type { Town } from "./types.ts";

let towns: Promise<TownIndex> | undefined;

/** The nearest town; null without a position. */
export async function findPlace({
  latitude,
  longitude,
}: {
  readonly latitude: number | null;
  readonly longitude: number | null;
}): Promise<Town | "elsewhere" | null> {
  if (latitude === null || longitude === null) return null;
  towns ??= Bun.file(path)
    .bytes()
    .then((bytes) => new TownIndex(bytes));
  return (await towns).find(latitude, longitude) ?? "elsewhere";
}
