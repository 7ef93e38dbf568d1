/**
 * Writes src/client/features/places/outlines.txt, the outlines of land and the borders between countries on the map of places,
 * from the npm package world-atlas 2.0.2 (Natural Earth, in the public domain). It is no dependency: `npm pack` downloads
 * it, `tar` unpacks it.
 *
 *   bun scripts/outlines.ts world-atlas/countries-50m.json
 *
 * Each line of the file is a polyline in tenths of degrees: L for an outline or B for a border, then longitude and latitude of
 * the first point, then steps to the next ones.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

type Point = readonly [x: number, y: number];

interface Topology {
  readonly transform: { readonly scale: Point; readonly translate: Point };
  /** Each a point and steps to the next ones. */
  readonly arcs: readonly (readonly Point[])[];
  readonly objects: { readonly countries: { readonly geometries: readonly { readonly arcs?: unknown }[] } };
}

const PER_DEGREE = 10;
/** Points closer to the line between their neighbors are left out, in tenths of degrees. */
const TOLERANCE = 0.7;
/** Smaller islands are left out: in tenths of degrees, from end to end. */
const ISLAND_MIN = 3;
/** Antarctica is left out: no photo on it has a town. */
const LATITUDE_MIN = -60;

const [source] = process.argv.slice(2);
if (source === undefined) throw new Error("Name the file to read: bun scripts/outlines.ts countries-50m.json");
const topology: Topology = JSON.parse(readFileSync(source, "utf8"));

/** How many countries have an arc: one on a coast, two on a border. A number below zero is an arc in reverse. */
const uses = new Map<number, number>();
const count = (arcs: unknown): void => {
  if (Array.isArray(arcs)) for (const arc of arcs) count(arc);
  else if (typeof arcs === "number") uses.set(arcs < 0 ? ~arcs : arcs, (uses.get(arcs < 0 ? ~arcs : arcs) ?? 0) + 1);
};
for (const { arcs } of topology.objects.countries.geometries) count(arcs);

/** The rings of all countries; used to fill the land. */
function ringsOf(arcs: unknown): number[][] {
  if (!Array.isArray(arcs)) return [];
  const list: readonly unknown[] = arcs;
  return list.every((arc) => typeof arc === "number") ? [[...list]] : list.flatMap(ringsOf);
}

function pointsOf(arc: number): Point[] {
  const { scale, translate } = topology.transform;
  let [x, y] = [0, 0];
  const points = (topology.arcs[arc < 0 ? ~arc : arc] ?? []).map(([stepX, stepY]): Point => {
    [x, y] = [x + stepX, y + stepY];
    return [(x * scale[0] + translate[0]) * PER_DEGREE, (y * scale[1] + translate[1]) * PER_DEGREE];
  });
  const needed = simplify(points);
  return arc < 0 ? needed.reverse() : needed;
}

/** Douglas-Peucker. Each arc alone, so that neighbors fit together. */
function simplify(points: readonly Point[]): Point[] {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || points.length < 3) return [...points];
  let [farthest, distance] = [0, 0];
  for (const [at, [x, y]] of points.entries()) {
    const [width, height] = [last[0] - first[0], last[1] - first[1]];
    const length = Math.hypot(width, height);
    const away =
      length === 0
        ? Math.hypot(x - first[0], y - first[1])
        : Math.abs(width * (first[1] - y) - height * (first[0] - x)) / length;
    if (away > distance) [farthest, distance] = [at, away];
  }
  if (distance <= TOLERANCE) return [first, last];
  return [...simplify(points.slice(0, farthest + 1)).slice(0, -1), ...simplify(points.slice(farthest))];
}

/** A line of the file; undefined if nothing of it can be seen. */
function write(kind: "L" | "B", points: readonly Point[]): string | undefined {
  const rounded = points.map(([x, y]): Point => [Math.round(x), Math.round(y)]);
  const distinct = rounded.filter(([x, y], at) => at === 0 || x !== rounded[at - 1]?.[0] || y !== rounded[at - 1]?.[1]);
  const [xs, ys] = [distinct.map(([x]) => x), distinct.map(([, y]) => y)];
  if (Math.max(...ys) < LATITUDE_MIN * PER_DEGREE || distinct.length < (kind === "L" ? 4 : 2)) return undefined;
  const size = Math.max(Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys));
  if (kind === "L" && size < ISLAND_MIN) return undefined;
  // Land across the date line continues beyond it, instead of a line around the world.
  const turn = 360 * PER_DEGREE;
  const across = (step: number) => (step > turn / 2 ? step - turn : step < -turn / 2 ? step + turn : step);
  const steps = distinct.flatMap(([x, y], at) =>
    at === 0 ? [x, y] : [across(x - (xs[at - 1] ?? 0)), y - (ys[at - 1] ?? 0)],
  );
  return `${kind}${steps.join(" ").replaceAll(" -", "-")}`;
}

const lines: string[] = [];
for (const { arcs } of topology.objects.countries.geometries) {
  for (const ring of ringsOf(arcs)) {
    lines.push(
      write(
        "L",
        ring.flatMap((arc, at) => pointsOf(arc).slice(at === 0 ? 0 : 1)),
      ) ?? "",
    );
  }
}
for (const [arc, times] of uses) if (times > 1) lines.push(write("B", pointsOf(arc)) ?? "");
const text = `${lines.filter((line) => line !== "").join("\n")}\n`;
writeFileSync(join(import.meta.dir, "../src/client/features/places/outlines.txt"), text);
console.log(`${lines.length} lines, ${text.length} bytes.`);
