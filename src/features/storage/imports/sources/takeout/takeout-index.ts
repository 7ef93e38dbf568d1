/**
 * The index of all archives of a Takeout: which files they have, and what the descriptions say of them. A photo and its
 * description can be in different archives. Contents are not in memory, except that of one description at a time.
 */
import { AppError } from "../../../../../errors.ts";
import { SourceError } from "../../source.ts";
import { messageOf } from "../../../../../lib/error.ts";
import type { ArchivePart, IndexedFile, PartEntry } from "./archive-part.ts";
import { kindOfProduct } from "./names.ts";
import { PhotoFolder } from "./photo-folder.ts";
import type { Remarks } from "./remarks.ts";
import { readSidecar, SIDECAR_BYTES_MAX } from "./sidecar.ts";
import { say } from "../../../../../translations/say.ts";

/** A file of Google Drive. */
export interface DriveFile extends IndexedFile {
  /** Below the folder of Drive. */
  readonly path: string;
}

const TOP_FOLDER = "Takeout";

/** Limits of all archives together, because their index is in memory. */
export interface IndexLimits {
  readonly files: number;
  /** Of paths, titles, and descriptions. */
  readonly characters: number;
}

/** For imports that the server runs. */
export const SERVER_LIMITS: IndexLimits = { files: 500_000, characters: 128 * 1024 * 1024 };
/** For commands, which operators run. */
export const COMMAND_LIMITS: IndexLimits = { files: 4_000_000, characters: 1024 * 1024 * 1024 };

/** Collects the files of archives. */
export class TakeoutIndex {
  /** By the path of the folder below the photos. */
  readonly folders = new Map<string, PhotoFolder>();
  readonly drive: DriveFile[] = [];
  /** Files of products that are not imported, by name. */
  readonly otherProducts = new Map<string, number>();
  readonly #remarks: Remarks;
  readonly #limits: IndexLimits;
  #files = 0;
  #characters = 0;
  #isComplete = true;

  constructor(remarks: Remarks, limits: IndexLimits) {
    this.#remarks = remarks;
    this.#limits = limits;
  }

  /** Whether all archives could be read to their end. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Adds the files of an archive, as far as it can be read. @throws SourceError if the index gets too large */
  async add(part: ArchivePart, signal: AbortSignal): Promise<void> {
    try {
      for await (const entry of part.list(signal)) await this.#addEntry(part, entry);
    } catch (error) {
      if (!(error instanceof AppError) || error.reason === "provider_unavailable") throw error;
      this.#isComplete = false;
      const message = say`This archive is damaged or incomplete (${messageOf(error.cause ?? error)}). Download it again, then repeat the import: only what is missing is imported.`;
      this.#remarks.add({ name: part.name, reason: "unreadable", message });
    }
  }

  async #addEntry(part: ArchivePart, entry: PartEntry): Promise<void> {
    this.#files++;
    this.#addCharacters(entry.path.length);
    const steps = entry.path.split("/");
    if (steps[0] === TOP_FOLDER) steps.shift();
    const isInvalid = steps.some((step) => step === "" || step === "." || step === "..") || entry.path.includes("\\");
    if (isInvalid || entry.problem !== undefined) {
      const message = entry.problem ?? say`Its path leads out of the archive.`;
      this.#remarks.add({ name: entry.path, reason: "unreadable", message: say`${message} It is not imported.` });
      return;
    }
    const [product = "", ...path] = steps;
    // A page that shows the archive, next to the products.
    if (path.length === 0) return;
    const kind = kindOfProduct(product, path.length > 1 ? path[0] : "");
    if (kind === "drive") this.drive.push({ part, entry, path: path.join("/") });
    else if (kind === "photos") await this.#addPhoto(part, entry, path);
    else this.otherProducts.set(product, (this.otherProducts.get(product) ?? 0) + 1);
  }

  async #addPhoto(part: ArchivePart, entry: PartEntry, path: string[]): Promise<void> {
    const name = (path.pop() ?? "").normalize("NFC");
    const folder = this.#folder(path.join("/").normalize("NFC"));
    if (!/\.json$/i.test(name)) {
      folder.addMedia({ part, entry, name });
      return;
    }
    const sidecar = entry.sizeBytes > SIDECAR_BYTES_MAX ? undefined : await this.#read(part, entry);
    if (sidecar === undefined) {
      const message = say`This description can't be read. Its photo is imported without it.`;
      this.#remarks.add({ name: entry.path, reason: "unreadable", message });
      return;
    }
    if (sidecar.kind === "photo") this.#addCharacters(sidecar.details.description?.length ?? 0);
    folder.addSidecar(name.slice(0, -".json".length), sidecar, entry.path);
  }

  async #read(part: ArchivePart, entry: PartEntry) {
    try {
      return readSidecar(new TextDecoder().decode(await part.readSmall(entry)));
    } catch (error) {
      if (error instanceof AppError && error.reason === "invalid_request") return undefined;
      throw error;
    }
  }

  /** @throws SourceError */
  #addCharacters(count: number): void {
    this.#characters += count;
    const { files, characters } = this.#limits;
    if (this.#files <= files && this.#characters <= characters) return;
    const message = say`The archives have more than ${files} files, or very long names. Import fewer archives at a time, or ask the administrator to import them with the command larder import.`;
    throw new SourceError(message, false);
  }

  #folder(path: string): PhotoFolder {
    const known = this.folders.get(path);
    if (known !== undefined) return known;
    const folder = new PhotoFolder(path);
    this.folders.set(path, folder);
    return folder;
  }
}
