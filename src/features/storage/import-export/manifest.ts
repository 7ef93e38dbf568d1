/**
 * What an export says of files and folders beside their bytes: labels and metadata, in one JSON file with a line for each
 * entry. An import of the folder finds it there and brings them back.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import { errorCode } from "../../../blobs/disk.ts";
import { AppError } from "../../../errors.ts";
import { checkMetadata, checkTags } from "../../../tree/model/labels.ts";

/** Name of the file, at the top of an export. */
export const MANIFEST_NAME = "larder-export.json";

/** Name of the folder, at the top of an export, of earlier versions: an import of it leaves that out. */
export const VERSIONS_NAME = ".larder-versions";

const FORMAT = "larder-export";

/** One entry; what is absent is as it is by default. */
export interface ManifestEntry {
  /** Where it lies below the folder of the export, with slashes, as written there. */
  readonly path: string;
  /** Its name in the account, where the target could not have that. */
  readonly name?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly capturedAt?: string | undefined;
}

/** What a manifest tells, by the path below the folder that it lies in. */
export type Labels = ReadonlyMap<string, ManifestEntry>;

/** Writes a manifest as its entries come, in a file beside the final one. */
export class ManifestWriter {
  readonly #path: string;
  readonly #staged: string;
  readonly #fd: number;
  #waiting: string[] = [];
  #count = 0;

  /** @param folder of the export; @param source its path in the account */
  constructor(folder: string, source: string, exportedAt: string) {
    this.#path = join(folder, MANIFEST_NAME);
    this.#staged = `${this.#path}.part`;
    this.#fd = fs.openSync(this.#staged, "w", 0o666);
    const head = { format: FORMAT, version: 1, folder: source, exportedAt };
    this.#waiting.push(`${JSON.stringify(head).slice(0, -1)},"entries":[`);
  }

  add(entry: ManifestEntry): void {
    this.#waiting.push(`${this.#count++ === 0 ? "" : ","}\n${JSON.stringify(entry)}`);
    if (this.#waiting.length >= 1_000) this.#flush();
  }

  /** Puts the file in its place. */
  finish(): void {
    this.#waiting.push("\n]}\n");
    this.#flush();
    fs.fsyncSync(this.#fd);
    fs.closeSync(this.#fd);
    fs.renameSync(this.#staged, this.#path);
  }

  /** Leaves an earlier file as it is. */
  discard(): void {
    fs.closeSync(this.#fd);
    fs.rmSync(this.#staged, { force: true });
  }

  #flush(): void {
    const bytes = Buffer.from(this.#waiting.join(""));
    this.#waiting = [];
    for (let written = 0; written < bytes.length; ) written += fs.writeSync(this.#fd, bytes, written);
  }
}

/** The manifest of an exported folder; undefined where there is none, or the file of that name is something else. */
export function readManifest(source: string): Labels | undefined {
  let text: string;
  try {
    text = fs.readFileSync(join(source, MANIFEST_NAME), "utf8");
  } catch (error) {
    if (["ENOENT", "EACCES", "EISDIR", "ELOOP"].includes(errorCode(error) ?? "")) return undefined;
    throw error;
  }
  const entries = parse(text);
  if (entries === undefined) return undefined;
  const labels = new Map<string, ManifestEntry>();
  for (const entry of entries) {
    const checked = check(entry);
    if (checked !== undefined) labels.set(checked.path, checked);
  }
  return labels;
}

function parse(text: string): readonly unknown[] | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    if (!isRecord(parsed) || parsed["format"] !== FORMAT || !Array.isArray(parsed["entries"])) return undefined;
    return parsed["entries"];
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** An entry as it may be kept; what may not is left out of it. */
function check(entry: unknown): ManifestEntry | undefined {
  if (!isRecord(entry) || typeof entry["path"] !== "string") return undefined;
  const { path, name, tags, metadata, capturedAt } = entry;
  return {
    path,
    ...(typeof name === "string" && { name }),
    ...(Array.isArray(tags) && { tags: attempt(() => checkTags(tags.filter(isText))) ?? [] }),
    ...(isRecord(metadata) && { metadata: attempt(() => checkedMetadata(metadata)) ?? {} }),
    ...(typeof capturedAt === "string" && !Number.isNaN(Date.parse(capturedAt)) && { capturedAt }),
  };
}

function checkedMetadata(given: Readonly<Record<string, unknown>>): Record<string, string> {
  const metadata: Record<string, string> = {};
  for (const [key, value] of Object.entries(given)) if (typeof value === "string") metadata[key] = value;
  checkMetadata(metadata);
  return metadata;
}

/** What a check gives, or undefined where it refuses. */
function attempt<T>(given: () => T): T | undefined {
  try {
    return given();
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
