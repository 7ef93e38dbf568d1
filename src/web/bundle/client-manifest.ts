/** What the build of the pages says of its outcome. */
export interface ClientManifest {
  /** Changes with any byte of any file: part of every address, so that no two builds are ever mixed. */
  readonly version: string;
  /** Every file below `/assets/<version>/`, by name. */
  readonly files: Readonly<Record<string, PackedFile>>;
  /**
   * By a module's path below `client/` (`start.ts`, `features/photos/photos-page.tsx`): the file that begins with it,
   * then all that this one imports before it can run.
   */
  readonly entries: Readonly<Record<string, readonly string[]>>;
  /** The service worker: one script, for an address of its own. */
  readonly worker: PackedFile;
}

/** One file in the pack, in the encodings that it is sent in. */
export interface PackedFile {
  readonly type: string;
  readonly identity: PackedPart;
  readonly br?: PackedPart;
  readonly gzip?: PackedPart;
}

/** Where a part of the pack begins, and how many bytes it has. */
export interface PackedPart {
  readonly offset: number;
  readonly size: number;
}

/** The list, and the file that it is about. */
export interface ClientPack {
  readonly manifest: ClientManifest;
  /** Path of the pack, inside the executable too. */
  readonly pack: string;
}
