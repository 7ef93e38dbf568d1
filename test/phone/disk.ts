// The storage of a phone, which survives when its app is killed: a saved state, and file contents.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checksumOf } from "./http.ts";

/** A file as the server last reported it. */
export interface Base {
  path: string;
  checksum: string;
}

/** A file of the local folder. */
export interface LocalFile {
  /** The phone's own name for it; renames and edits do not change it. */
  key: string;
  path: string;
  checksum: string;
  size: number;
  /** By the phone's clock, which may be wrong. */
  modifiedAt: string;
  /** Set once the server knows the file. */
  fileId?: string;
  base?: Base;
}

/** A file that was deleted on the phone; the server may not know yet. */
export interface DeletedFile extends Base {
  fileId: string;
  /** The queued operation that deletes it on the server, if there is one. */
  operationId?: string;
}

/** An operation for the server's queue, recorded while the phone was offline. */
export interface Operation {
  id: string;
  type: "upload" | "delete";
  priority: string;
  /** By the phone's clock. */
  createdAt: string;
  localPath?: string;
  remotePath?: string;
  fileId?: string;
  /** The last status that the server reported; undefined before it is sent. */
  status?: string;
  /** Whether the file that it waits for was stored at its path. */
  isFulfilled?: boolean;
}

/** A change in a request to sync/files. It is saved, and repeated unchanged until there is a response. */
export interface Change {
  localId: string;
  action: "upload" | "update" | "rename" | "move" | "delete";
  key: string;
  path: string;
  name: string;
  folder: string;
  size: number;
  checksum: string;
  lastModified: string;
  fileId?: string;
  baseChecksum?: string;
}

/** A chunk as the server planned it. */
export interface ChunkPlan {
  index: number;
  start: number;
  end: number;
  uploadUrl: string;
}

/** An upload in progress. */
export interface PendingUpload {
  localId: string;
  key: string;
  path: string;
  checksum: string;
  size: number;
  fileId?: string;
  baseChecksum?: string;
  automatic?: boolean;
  /** Set once the server has planned the upload. */
  uploadId?: string;
  uploadUrl?: string;
  chunks?: ChunkPlan[];
  alreadyStored?: boolean;
}

/** Everything that survives a crash of the app, except file contents. */
interface PhoneState {
  deviceId: string;
  accessToken?: string;
  refreshToken?: string;
  /** When the first refresh with this token was tried that got no response, in ms of real time. */
  refreshingSinceMs?: number;
  /** The number of such tries. */
  refreshTries?: number;
  syncToken?: string;
  /** Ids received since a sync was started without a token. All other files are dropped at its end. */
  seenSinceReset?: string[];
  createdCount: number;
  files: LocalFile[];
  deleted: DeletedFile[];
  changes: Change[];
  operations: Operation[];
  uploads: PendingUpload[];
}

/** Stores the state and the file contents of a phone. */
export abstract class PhoneDisk {
  state: PhoneState;
  private saved: string;

  constructor(state: PhoneState) {
    this.state = state;
    this.saved = JSON.stringify(state);
  }

  /** Saves the state: it survives a crash. */
  save(): void {
    this.saved = JSON.stringify(this.state);
    this.persist(this.saved);
  }

  /** Restores the last saved state, after a crash. */
  reopen(): void {
    this.state = JSON.parse(this.recall(this.saved)) as PhoneState;
  }

  /** Stores file content. @returns its checksum */
  store(bytes: Uint8Array<ArrayBuffer>): string {
    const checksum = checksumOf(bytes);
    this.putContent(checksum, bytes);
    return checksum;
  }

  /** Stored file content. */
  content(checksum: string): Uint8Array<ArrayBuffer> {
    const bytes = this.getContent(checksum);
    if (bytes === undefined) throw new Error(`the phone lost ${checksum} itself`);
    return bytes;
  }

  /** Whether the content is stored, so that it need not be downloaded. */
  abstract has(checksum: string): boolean;
  protected abstract putContent(checksum: string, bytes: Uint8Array<ArrayBuffer>): void;
  protected abstract getContent(checksum: string): Uint8Array<ArrayBuffer> | undefined;
  protected abstract persist(json: string): void;
  protected abstract recall(saved: string): string;
}

/** The state of a new phone. */
function emptyState(deviceId: string): PhoneState {
  return { deviceId, createdCount: 0, files: [], deleted: [], changes: [], operations: [], uploads: [] };
}

/** A disk in memory. */
export class MemoryDisk extends PhoneDisk {
  private readonly contents = new Map<string, Uint8Array<ArrayBuffer>>();

  constructor(deviceId: string) {
    super(emptyState(deviceId));
  }

  override has(checksum: string): boolean {
    return this.contents.has(checksum);
  }
  protected override putContent(checksum: string, bytes: Uint8Array<ArrayBuffer>): void {
    this.contents.set(checksum, bytes);
  }
  protected override getContent(checksum: string): Uint8Array<ArrayBuffer> | undefined {
    return this.contents.get(checksum);
  }
  protected override persist(): void {
    // The base class has the only copy.
  }
  protected override recall(saved: string): string {
    return saved;
  }
}

/** A disk in a directory. */
export class DirectoryDisk extends PhoneDisk {
  constructor(
    deviceId: string,
    private readonly directory: string,
  ) {
    super(emptyState(deviceId));
    mkdirSync(directory, { recursive: true });
    this.save();
  }

  override has(checksum: string): boolean {
    return existsSync(this.pathOf(checksum));
  }
  protected override putContent(checksum: string, bytes: Uint8Array<ArrayBuffer>): void {
    writeFileSync(this.pathOf(checksum), bytes);
  }
  protected override getContent(checksum: string): Uint8Array<ArrayBuffer> | undefined {
    return this.has(checksum) ? new Uint8Array(readFileSync(this.pathOf(checksum))) : undefined;
  }
  protected override persist(json: string): void {
    writeFileSync(join(this.directory, "state.json.new"), json);
    renameSync(join(this.directory, "state.json.new"), join(this.directory, "state.json"));
  }
  protected override recall(): string {
    return readFileSync(join(this.directory, "state.json"), "utf8");
  }
  private pathOf(checksum: string): string {
    return join(this.directory, checksum.replace(":", "-"));
  }
}
