/**
 * The index of all archives of a Takeout: which files they have, and what the descriptions say of them. A photo and its
 * description can be in different archives. Contents are not in memory, except that of one description at a time.
 */
import { AppError } from "../../../../../errors.ts";
import { messageOf } from "../../../../../lib/error.ts";
import type { ArchivePart, IndexedFile, PartEntry } from "./archive-part.ts";
import { kindOfProduct } from "./names.ts";
import { PhotoFolder } from "./photo-folder.ts";
import type { Remarks } from "./remarks.ts";
import { readSidecar, SIDECAR_BYTES_MAX } from "./sidecar.ts";

/** A file of Google Drive. */
export interface DriveFile extends IndexedFile {
  /** Below the folder of Drive. */
  readonly path: string;
}

const TOP_FOLDER = "Takeout";

/** Collects the files of archives. */
export class TakeoutIndex {
  /** By the path of the folder below the photos. */
  readonly folders = new Map<string, PhotoFolder>();
  readonly drive: DriveFile[] = [];
  /** Files of products that are not imported, by name. */
  readonly otherProducts = new Map<string, number>();
  readonly #remarks: Remarks;
  #isComplete = true;

  constructor(remarks: Remarks) {
    this.#remarks = remarks;
  }

  /** Whether all archives could be read to their end. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Adds the files of an archive, as far as it can be read. */
  async add(part: ArchivePart, signal: AbortSignal): Promise<void> {
    try {
      for await (const entry of part.list(signal)) await this.#addEntry(part, entry);
    } catch (error) {
      if (!(error instanceof AppError) || error.reason === "provider_unavailable") throw error;
      this.#isComplete = false;
      const message = `This archive is damaged or incomplete (${messageOf(error.cause ?? error)}). Download it again, then repeat the import: only what is missing is imported.`;
      this.#remarks.add({ name: part.name, reason: "unreadable", message });
    }
  }

  async #addEntry(part: ArchivePart, entry: PartEntry): Promise<void> {
    const steps = entry.path.split("/");
    if (steps[0] === TOP_FOLDER) steps.shift();
    const isInvalid = steps.some((step) => step === "" || step === "." || step === "..") || entry.path.includes("\\");
    if (isInvalid || entry.problem !== undefined) {
      const message = entry.problem ?? "Its path leads out of the archive.";
      this.#remarks.add({ name: entry.path, reason: "unreadable", message: `${message} It is not imported.` });
      return;
    }
    const [product = "", ...path] = steps;
    // A page that shows the archive, next to the products.
    if (path.length === 0) return;
    const kind = kindOfProduct(product);
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
      const message = "This description can't be read. Its photo is imported without it.";
      this.#remarks.add({ name: entry.path, reason: "unreadable", message });
    } else folder.addSidecar(name.slice(0, -".json".length), sidecar, entry.path);
  }

  async #read(part: ArchivePart, entry: PartEntry) {
    try {
      return readSidecar(new TextDecoder().decode(await part.readSmall(entry)));
    } catch (error) {
      if (error instanceof AppError && error.reason === "invalid_request") return undefined;
      throw error;
    }
  }

  #folder(path: string): PhotoFolder {
    const known = this.folders.get(path);
    if (known !== undefined) return known;
    const folder = new PhotoFolder(path);
    this.folders.set(path, folder);
    return folder;
  }
}
