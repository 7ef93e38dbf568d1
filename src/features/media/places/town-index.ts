/**
 * Finds the town where a photo was taken, among all towns with 1,500 inhabitants. scripts/towns.ts writes the data.
 * Only the process that reads metadata loads it, at the first photo with coordinates.
 */
import { brotliDecompressSync } from "node:zlib";
import type { Town } from "./types.ts";

/** A place farther than this from the edge of every town belongs to none. */
const FAR_KM = 100;
const RADIUS_STEPS_PER_KM = 5;
const KM_PER_DEGREE = 111.195;
/** Cells of half a degree. A town is listed in every cell that its circle touches. */
const CELLS_PER_DEGREE = 2;
const ROWS = 180 * CELLS_PER_DEGREE;
const COLUMNS = 360 * CELLS_PER_DEGREE;
const CELL_KM = KM_PER_DEGREE / CELLS_PER_DEGREE;
/** Near the poles, cells are narrow, and the search needs a limit. */
const RINGS_MAX = 20;

interface Head {
  readonly count: number;
  /** The length of each column, in bytes. */
  readonly columns: readonly number[];
  /** In the order of the towns: the country, the name, and how many towns it has. */
  readonly regions: readonly (readonly [country: string, name: string, towns: number])[];
}

/** Typed arrays with one element per town, in the order of the file; about 2.5 MiB in all. */
interface Columns {
  readonly ids: Int32Array;
  /** Hundredths of degrees. */
  readonly latitudes: Int16Array;
  readonly longitudes: Int16Array;
  readonly radii: Uint8Array;
  /** Positions in `regions`. */
  readonly regionNumbers: Uint16Array;
  /** UTF-8, separated by line breaks. */
  readonly names: Uint8Array;
  readonly nameStarts: Uint32Array;
  readonly regions: Head["regions"];
}

/** All towns, by position. */
export class TownIndex {
  readonly #columns: Columns;
  /** The towns by cell, and where each cell begins. */
  readonly #byCell: Uint32Array;
  readonly #cellStarts = new Uint32Array(ROWS * COLUMNS + 1);

  /** @param compressed the content of towns.bin */
  constructor(compressed: Uint8Array) {
    this.#columns = readColumns(brotliDecompressSync(compressed));
    const starts = this.#cellStarts;
    for (let town = 0; town < this.count; town++) {
      this.#forEachCell(town, (cell) => (starts[cell + 1] = (starts[cell + 1] ?? 0) + 1));
    }
    for (let cell = 0; cell < ROWS * COLUMNS; cell++) starts[cell + 1] = (starts[cell + 1] ?? 0) + (starts[cell] ?? 0);
    const next = starts.slice();
    this.#byCell = new Uint32Array(starts.at(-1) ?? 0);
    for (let town = 0; town < this.count; town++) {
      this.#forEachCell(town, (cell) => {
        const position = next[cell] ?? 0;
        this.#byCell[position] = town;
        next[cell] = position + 1;
      });
    }
  }

  /** The number of towns. */
  get count(): number {
    return this.#columns.ids.length;
  }

  /**
   * The town at a position; undefined far from all towns. A town covers a circle that grows with its inhabitants. Within
   * circles, the center that is nearest in relation to the radius wins, so that a suburb keeps its name next to a city.
   * Outside of all circles, the nearest edge wins.
   */
  find(latitude: number, longitude: number): Town | undefined {
    if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180)) return undefined;
    const kmEast = KM_PER_DEGREE * Math.max(0.02, Math.cos((latitude * Math.PI) / 180));
    // The score of a town is at most 1 within its circle, and 1 plus the distance from its edge outside.
    const best = { town: -1, score: 1 + FAR_KM };
    for (let ring = 0; ring <= RINGS_MAX; ring++) {
      // What is farther than the rings so far is at least this far away.
      const reachedKm = (ring - 1) * Math.min(CELL_KM, kmEast / CELLS_PER_DEGREE);
      if (best.score - 1 <= reachedKm) break;
      for (let row = -ring; row <= ring; row++) {
        const step = Math.abs(row) === ring || ring === 0 ? 1 : 2 * ring;
        for (let column = -ring; column <= ring; column += step) {
          this.#searchCell(
            cellAt(latitude + row / CELLS_PER_DEGREE, longitude + column / CELLS_PER_DEGREE),
            { latitude, longitude, kmEast },
            best,
          );
        }
      }
    }
    return best.town === -1 ? undefined : this.#town(best.town);
  }

  #searchCell(
    cell: number,
    at: { readonly latitude: number; readonly longitude: number; readonly kmEast: number },
    best: { town: number; score: number },
  ): void {
    const { latitudes, longitudes, radii } = this.#columns;
    const end = this.#cellStarts[cell + 1] ?? 0;
    for (let position = this.#cellStarts[cell] ?? 0; position < end; position++) {
      const town = this.#byCell[position] ?? 0;
      const north = ((latitudes[town] ?? 0) / 100 - at.latitude) * KM_PER_DEGREE;
      const east = wrap((longitudes[town] ?? 0) / 100 - at.longitude) * at.kmEast;
      const radius = (radii[town] ?? 0) / RADIUS_STEPS_PER_KM;
      const distance = Math.sqrt(north * north + east * east);
      const score = distance < radius ? distance / radius : 1 + distance - radius;
      if (score >= best.score) continue;
      best.town = town;
      best.score = score;
    }
  }

  #forEachCell(town: number, each: (cell: number) => void): void {
    const { latitudes, longitudes, radii } = this.#columns;
    const [latitude, longitude] = [(latitudes[town] ?? 0) / 100, (longitudes[town] ?? 0) / 100];
    const north = (radii[town] ?? 0) / RADIUS_STEPS_PER_KM / KM_PER_DEGREE;
    const east = north / Math.max(0.02, Math.cos((latitude * Math.PI) / 180));
    const bottom = rowOf(latitude - north);
    const left = Math.floor((longitude - east) * CELLS_PER_DEGREE);
    const right = Math.floor((longitude + east) * CELLS_PER_DEGREE);
    for (let row = bottom; row <= rowOf(latitude + north); row++) {
      for (let column = left; column <= right; column++) each(row * COLUMNS + columnOf(column / CELLS_PER_DEGREE));
    }
  }

  #town(town: number): Town {
    const { ids, latitudes, longitudes, regionNumbers, regions, names, nameStarts } = this.#columns;
    const [country = "", region = ""] = regions[regionNumbers[town] ?? 0] ?? [];
    const start = nameStarts[town] ?? 0;
    const end = (nameStarts[town + 1] ?? names.length + 1) - 1;
    return {
      id: ids[town] ?? 0,
      name: new TextDecoder().decode(names.subarray(start, end)),
      region: region === "" ? null : region,
      country,
      latitude: (latitudes[town] ?? 0) / 100,
      longitude: (longitudes[town] ?? 0) / 100,
    };
  }
}

/** Degrees from -180 to 180. */
function wrap(degrees: number): number {
  return degrees > 180 ? degrees - 360 : degrees < -180 ? degrees + 360 : degrees;
}

function rowOf(latitude: number): number {
  return Math.min(ROWS - 1, Math.max(0, Math.floor((latitude + 90) * CELLS_PER_DEGREE)));
}

function columnOf(longitude: number): number {
  const column = Math.floor((longitude + 180) * CELLS_PER_DEGREE) % COLUMNS;
  return column < 0 ? column + COLUMNS : column;
}

function cellAt(latitude: number, longitude: number): number {
  return rowOf(latitude) * COLUMNS + columnOf(longitude);
}

function readColumns(content: Uint8Array): Columns {
  const lineEnd = content.indexOf(0x0a);
  const head: Head = JSON.parse(new TextDecoder().decode(content.subarray(0, lineEnd)));
  let at = lineEnd + 1;
  const [ids = content, latitudes = content, longitudes = content, radii = content, names = content] = head.columns.map(
    (length) => content.subarray(at, (at += length)),
  );
  const regionNumbers = new Uint16Array(head.count);
  let town = 0;
  for (const [number, [, , towns]] of head.regions.entries()) regionNumbers.fill(number, town, (town += towns));
  const nameStarts = new Uint32Array(head.count);
  for (let position = 0, next = 1; next < head.count; position++) {
    if (names[position] === 0x0a) nameStarts[next++] = position + 1;
  }
  return {
    ids: readSteps(ids, new Int32Array(head.count)),
    latitudes: readSteps(latitudes, new Int16Array(head.count)),
    longitudes: readSteps(longitudes, new Int16Array(head.count)),
    // Copies, so that the whole content can be released.
    radii: radii.slice(),
    regionNumbers,
    names: names.slice(),
    nameStarts,
    regions: head.regions,
  };
}

/** Signed steps between numbers, as varints. */
function readSteps<T extends Int32Array | Int16Array>(bytes: Uint8Array, numbers: T): T {
  let sum = 0;
  let at = 0;
  for (let index = 0; index < numbers.length; index++) {
    let step = 0;
    for (let factor = 1, byte = 128; byte >= 128; factor *= 128) {
      byte = bytes[at++] ?? 0;
      step += (byte & 127) * factor;
    }
    sum += step % 2 === 0 ? step / 2 : -(step + 1) / 2;
    numbers[index] = sum;
  }
  return numbers;
}
