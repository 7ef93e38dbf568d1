/** The description of a build of the pages. */
export interface ClientManifest {
  /** Changes with any byte of any file. It is part of every address, so that browsers never mix two builds. */
  readonly version: string;
  /** Every file below `/assets/<version>/`, by name. */
  readonly files: Readonly<Record<string, PackedFile>>;
  /**
   * By the path of a module below `client/` (`start.ts`, `features/photos/photos-page.tsx`): its file, then all files
   * that it imports before it can run.
   */
  readonly entries: Readonly<Record<string, readonly string[]>>;
  /** The service worker: one script with its own address. */
  readonly worker: PackedFile;
}

/** One file in the pack, in the encodings in which it is sent. */
export interface PackedFile {
  readonly type: string;
  readonly identity: PackedPart;
  readonly br?: PackedPart;
  readonly gzip?: PackedPart;
}

/** Position and length of a part of the pack, in bytes. */
export interface PackedPart {
  readonly offset: number;
  readonly size: number;
}

/** The description and the file that it describes. */
export interface ClientPack {
  readonly manifest: ClientManifest;
  /** Path of the pack, inside the executable too. */
  readonly pack: string;
}
