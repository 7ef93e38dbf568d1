// Checks an opened copy: it must match the original at one moment, and every file in it must be readable.
import { Client, checksumOf } from "../client.ts";
import type { TestServer } from "../server.ts";
import { type FileChange, type FileState, type Interval, type LoadedAccount, findIntervals } from "./load.ts";

/** The result of checking a copy. */
export interface CheckedCopy {
  readonly files: number;
  readonly bytes: number;
  /**
   * The latest moment that the copy may represent, in milliseconds since 1970; with several accounts, the earliest of
   * them.
   */
  readonly momentMs: number;
  /** Files of which the journal names a content that was not copied. */
  readonly lateFiles: number;
  /** The files of each account, by key. */
  readonly states: ReadonlyMap<LoadedAccount, ReadonlyMap<string, FileState>>;
}

/** The keys of the files of which the server logs that the journal is newer than the copied contents. */
function findLateKeys(log: string): Set<string> {
  const lines = log.split("\n").filter((line) => line.includes("that is newer than the snapshot is missing"));
  return new Set(lines.flatMap((line) => [...line.matchAll(/\b([a-z]\d+)_\d+\.bin/g)].map(([, key = ""]) => key)));
}

/**
 * Lists and downloads every file of every account. Each account must be as it was at one moment. The moments may differ
 * between accounts, because each has its own store journal, copied at another time. A content may be missing that was
 * stored or deleted during the copy, if the server names its file. That file may be missing or have an earlier content.
 * @param interval the copy must represent a moment in it
 * @throws Error that names what is missing, older or different
 */
export async function checkCopy(
  copy: TestServer,
  accounts: readonly LoadedAccount[],
  { fromMs, untilMs }: Interval,
): Promise<CheckedCopy> {
  const states = new Map<LoadedAccount, ReadonlyMap<string, FileState>>();
  let files = 0;
  let bytes = 0;
  let momentMs = untilMs;
  const lateKeys = findLateKeys(copy.log);
  for (const loaded of accounts) {
    const seenTogether: SeenFile[] = [];
    const client = new Client(copy, loaded.account.token);
    const seen = new Map<string, FileState>();
    for (const { id, state } of await listAll(client)) {
      const key = state.name.slice(0, state.name.indexOf("_"));
      if (seen.has(key)) throw new Error(`${key} exists twice`);
      seen.set(key, state);
      const got = await client.get(`/api/files/${id}/download`);
      if (got.status !== 200 || checksumOf(got.bytes) !== state.checksum) {
        throw new Error(`${state.folder} ${state.name} cannot be read: ${got.status} ${got.text.slice(0, 300)}`);
      }
      files += 1;
      bytes += got.bytes.length;
    }
    states.set(loaded, new Map(seen));
    for (const [key, changes] of loaded.histories) {
      const state = seen.get(key) ?? null;
      const what = `${key}: ${JSON.stringify(state)}`;
      if (lateKeys.has(key)) findMoment([{ what, intervals: findLateIntervals(changes, state) }], fromMs, untilMs);
      else seenTogether.push({ what, intervals: findIntervals(changes, state) });
      seen.delete(key);
    }
    if (seen.size > 0) throw new Error(`never uploaded: ${[...seen.keys()].join(", ")}`);
    momentMs = Math.min(momentMs, findMoment(seenTogether, fromMs, untilMs));
  }
  return { files, bytes, momentMs, lateFiles: lateKeys.size, states };
}

/** A file in the state in which it was seen, or missing. */
interface SeenFile {
  readonly what: string;
  /** When it may have been in that state. */
  readonly intervals: Interval[];
}

/** The periods in which a file may have been missing; all time for a content that it had at some moment. */
function findLateIntervals(changes: readonly FileChange[], seen: FileState): Interval[] {
  if (seen === null) return findIntervals(changes, null);
  const hadContent = changes.some(({ state }) => state?.checksum === seen.checksum);
  return hadContent ? [{ fromMs: Number.NEGATIVE_INFINITY, untilMs: Number.POSITIVE_INFINITY }] : [];
}

/** Finds the latest moment at which every file was in its observed state. */
function findMoment(seen: SeenFile[], fromMs: number, untilMs: number): number {
  const ends = seen.flatMap(({ intervals }) => intervals.map((interval) => interval.untilMs));
  const moments = [...new Set([untilMs, ...ends.filter((ms) => ms >= fromMs && ms <= untilMs)])].sort((a, b) => b - a);
  let fewest: string[] | undefined;
  for (const moment of moments) {
    const others = seen
      .filter(({ intervals }) => !intervals.some((one) => one.fromMs <= moment && moment <= one.untilMs))
      .map(({ what }) => what);
    if (others.length === 0) return moment;
    if (fewest === undefined || others.length < fewest.length) fewest = others;
  }
  throw new Error(`The original was never like this between ${fromMs} and ${untilMs}:\n${(fewest ?? []).join("\n")}`);
}

async function listAll(client: Client): Promise<{ id: string; state: NonNullable<FileState> }[]> {
  const found: { id: string; state: NonNullable<FileState> }[] = [];
  for (let page = 1; ; page++) {
    const response = await client.get(`/api/files?recursive=true&type=file&limit=100&page=${page}`);
    if (response.status !== 200) throw new Error(`listing failed: ${response.status} ${response.text}`);
    const field = (name: string) => response.strings("data.files", name);
    const [ids, names, paths, checksums] = [field("id"), field("name"), field("folder"), field("checksum")];
    for (const [index, id] of ids.entries()) {
      const state = { folder: paths[index] ?? "", name: names[index] ?? "", checksum: checksums[index] ?? "" };
      found.push({ id, state });
    }
    if (response.at("data.pagination.hasNext") !== true) return found;
  }
}
