/** The XMP sidecars of an export: which photos and videos get one, and what it says. */
import { relative } from "node:path";
import { fold } from "../../../lib/path.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { readLocation } from "../../media/metadata/exif.ts";
import type { MediaInfoService } from "../../media/metadata/service.ts";
import type { MediaInfo } from "../../media/metadata/types.ts";
import { isSidecarFile } from "./sidecar-writer.ts";
import type { SidecarJob, SidecarReport, SidecarResult, WithoutSidecar } from "./types.ts";
import { type Location, type PhotoFacts, SIDECAR_SUFFIX, toSidecar } from "./xmp.ts";

/** Dependencies of {@link ExportedSidecars}. */
interface ExportedSidecarsOptions {
  readonly mediaInfo: Pick<MediaInfoService, "find">;
  /** The folder of the export. */
  readonly target: string;
  /** Paths of the sidecars that earlier exports wrote, below the folder. */
  readonly earlier: ReadonlySet<string>;
}

/** What the account says of a file, besides the file. */
interface AccountFacts {
  readonly isFavorite: boolean;
  readonly albums: readonly string[];
}

const LISTED_MAX = 10_000;
/** The sidecars while an account is exported. */
export class ExportedSidecars {
  readonly #options: ExportedSidecarsOptions;
  /** Folded paths of the account's own files that may be sidecars. */
  readonly #own = new Set<string>();
  readonly #paths: string[] = [];
  readonly #counts = { written: 0, unchanged: 0, leftOut: 0 };
  readonly #leftOut: WithoutSidecar[] = [];

  constructor(options: ExportedSidecarsOptions) {
    this.#options = options;
  }

  /** Call for each file of the account, before {@link jobFor}. @param path on disk */
  noteFile(path: string): void {
    if (/\.xmp$/i.test(path)) this.#own.add(fold(path));
  }

  /**
   * The sidecar of a file; undefined if it can have none. One without facts is written only over an earlier one.
   * @param disk path of the file on disk; @param path in the account
   */
  jobFor(file: FileNode, disk: string, path: string, account: AccountFacts): SidecarJob | undefined {
    if (!/^(image|video)\//.test(file.mediaType)) return undefined;
    const facts = this.#factsOf(file, account);
    const text = isWithoutFacts(facts) ? undefined : toSidecar(facts);
    const target = `${disk}${SIDECAR_SUFFIX}`;
    // Lightroom names them without the extension of the photo. Programs would ignore such a file next to another one.
    const names = this.#own.size === 0 ? [] : [target, disk.replace(/\.[^./]+$/, SIDECAR_SUFFIX)];
    const own = names.find((name) => this.#own.has(fold(name)));
    if (own === undefined) return { target, text };
    if (text !== undefined) this.#leaveOut(path, `${describePath(own)} is a file of the account. It was not changed.`);
    return undefined;
  }

  /** Counts the result of a job. @param path of the photo in the account */
  count({ target }: SidecarJob, path: string, result: SidecarResult): void {
    const { state } = result;
    if (state === "foreign") {
      this.#leaveOut(
        path,
        `${describePath(target)} is not from Larder, or was changed. To replace it, delete it first.`,
      );
    } else if (state === "unwritable") this.#leaveOut(path, result.message);
    if (state !== "written" && state !== "unchanged") return;
    this.#counts[state]++;
    this.#paths.push(relative(this.#options.target, target));
  }

  /** Paths of all sidecars in the folder that an import skips, also of those whose photos were not exported now. */
  paths(): string[] {
    const { earlier, target } = this.#options;
    const now = new Set(this.#paths);
    const remaining = [...earlier].filter((path) => {
      const disk = `${target}/${path}`;
      return !now.has(path) && !this.#own.has(fold(disk)) && isSidecarFile(disk);
    });
    return [...this.#paths, ...remaining];
  }

  report(): SidecarReport {
    return { ...this.#counts, list: this.#leftOut };
  }

  #leaveOut(path: string, message: string): void {
    this.#counts.leftOut++;
    if (this.#leftOut.length < LISTED_MAX) this.#leftOut.push({ path, message: `No sidecar was written. ${message}` });
  }

  #factsOf(file: FileNode, { isFavorite, albums }: AccountFacts): PhotoFacts {
    const { description = "", location = "" } = file.metadata;
    const media = this.#options.mediaInfo.find(file.digest, file.mediaType);
    return {
      description: description === "" ? undefined : description,
      tags: file.tags,
      capturedAt: isInFile(file.capturedAt, media) ? undefined : (file.capturedAt ?? undefined),
      location: locationOf(location, media),
      isFavorite,
      albums,
    };
  }
}

function isWithoutFacts({ description, tags, capturedAt, location, isFavorite, albums }: PhotoFacts): boolean {
  const values = [description, capturedAt, location];
  return values.every((value) => value === undefined) && tags.length === 0 && !isFavorite && albums.length === 0;
}

/** Whether the file states the same time: uploads from phones take theirs from it. Files state whole seconds. */
function isInFile(capturedAt: string | null, media: MediaInfo | undefined): boolean {
  if (capturedAt === null || media === undefined || media.takenAt === null) return false;
  return toSeconds(capturedAt) === toSeconds(media.takenAt);
}

function toSeconds(instant: string): number {
  return Math.floor(Date.parse(instant) / 1_000);
}

/** The location that was sent with an upload. That of the file itself takes precedence. */
function locationOf(text: string, media: MediaInfo | undefined): Location | undefined {
  const [latitude, longitude] = readLocation(text)?.split(",").map(Number) ?? [];
  const hasOwn = media !== undefined && media.latitude !== null && media.longitude !== null;
  return latitude === undefined || longitude === undefined || hasOwn ? undefined : { latitude, longitude };
}

function describePath(path: string): string {
  return `"${path.slice(path.lastIndexOf("/") + 1)}"`;
}
