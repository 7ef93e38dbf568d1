import type { IndexedFile } from "./archive-part.ts";
import { fuzzyName, isPicture, sidecarNames, splitExtension, yearOfFolder } from "./names.ts";
import type { AlbumFacts, PhotoFacts, Sidecar } from "./sidecar.ts";

/** A photo or video in a folder. */
interface Media extends IndexedFile {
  readonly name: string;
}

/** A photo or video with what is known of it. */
export interface DescribedMedia extends Media {
  readonly facts: PhotoFacts | undefined;
  /** Whether it is the photo of its description, an edited copy of it, or the video of a Live Photo. */
  readonly relation: "own" | "edited" | "motion";
  /** The name as the person knows it. */
  readonly title: string;
}

interface StoredSidecar {
  readonly facts: PhotoFacts;
  readonly path: string;
  isUsed: boolean;
}

/** A folder with photos: of a year, or an album. */
export class PhotoFolder {
  readonly #path: string;
  readonly #media: Media[] = [];
  /** By name without `.json`. */
  readonly #sidecars = new Map<string, StoredSidecar>();
  /** By {@link fuzzyName} of the title. */
  readonly #similar = new Map<string, StoredSidecar>();
  #album: AlbumFacts | undefined;
  /** JSON files that describe neither photos nor albums: comments and the like. */
  otherFiles = 0;

  constructor(path: string) {
    this.#path = path;
  }

  addMedia(media: Media): void {
    this.#media.push(media);
  }

  /** @param path in the archive */
  addSidecar(name: string, sidecar: Sidecar, path: string): void {
    if (sidecar.kind === "photo") {
      const stored = { facts: sidecar, path, isUsed: false };
      this.#sidecars.set(name.normalize("NFC"), stored);
      this.#similar.set(fuzzyName(sidecar.title), stored);
    } else if (sidecar.kind === "album") this.#album ??= sidecar;
    else this.otherFiles++;
  }

  /** The year, if this is a folder with all photos of a year. */
  get year(): string | undefined {
    return yearOfFolder(this.#path, this.#album !== undefined && this.#album.title !== "");
  }

  /** The album; undefined for the folder of a year, and for one that has no name. */
  get album(): AlbumFacts | undefined {
    if (this.year !== undefined || this.#path === "") return undefined;
    if (this.#album !== undefined) return this.#album.title === "" ? undefined : this.#album;
    // Without its description, which may be in an archive that is missing: all photos of an archive or a trash say so.
    const isSpecial = [...this.#sidecars.values()].every(({ facts }) => facts.isArchived || facts.isTrashed);
    return isSpecial ? undefined : { title: this.#path, description: "" };
  }

  /** The photos and videos with their descriptions. */
  *describe(): Generator<DescribedMedia> {
    for (const media of this.#media) yield this.#describeOne(media);
  }

  /** The paths of descriptions without a photo. Call after {@link describe}. */
  *unmatched(): Generator<string> {
    for (const { isUsed, path } of this.#sidecars.values()) if (!isUsed) yield path;
  }

  #describeOne(media: Media): DescribedMedia {
    for (const { name, relation, addition } of sidecarNames(media.name)) {
      const sidecar = this.#sidecars.get(name);
      if (sidecar === undefined) continue;
      // `a.mp4` next to `a.heic` is its video only if the description is that of the photo.
      if (relation === "motion" && !isPicture(sidecar.facts.title)) continue;
      sidecar.isUsed = true;
      return { ...media, facts: sidecar.facts, relation, title: titleOf(media.name, sidecar.facts.title, addition) };
    }
    const similar = this.#similar.get(fuzzyName(media.name));
    if (similar !== undefined && !similar.isUsed) {
      similar.isUsed = true;
      return { ...media, facts: similar.facts, relation: "own", title: titleOf(media.name, similar.facts.title, "") };
    }
    return { ...media, facts: undefined, relation: "own", title: media.name };
  }
}

/** The title, which may have characters that are replaced in names of files, with the extension of the file. */
function titleOf(fileName: string, title: string, addition: string): string {
  if (title === "") return fileName;
  const { extension } = splitExtension(fileName);
  const { stem, extension: titleExtension } = splitExtension(title);
  const isKnownExtension = /^\.[a-z0-9~]{1,5}$/i.test(titleExtension);
  const name = isKnownExtension ? stem : title;
  const hasSame = titleExtension.toLowerCase() === extension.toLowerCase();
  return `${name}${addition}${hasSame ? titleExtension : extension}`.replaceAll(/[/\\]/g, "_");
}
