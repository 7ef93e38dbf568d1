// What a phone keeps when its app is killed: a state that was saved, and contents. Everything else is gone.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checksumOf } from "./http.ts";

/** A file as the server last told of it. */
export interface Base {
  path: string;
  checksum: string;
}

/** A file of the local folder. */
export interface LocalFile {
  /** The phone's own name for it: stays the same through renames and edits. */
  key: string;
  path: string;
  checksum: string;
  size: number;
  /** By the phone's clock, which may be wrong. */
  modifiedAt: string;
  /** Once the server knows it. */
  fileId?: string;
  base?: Base;
}

/** A file that was deleted here, which the server may not know yet. */
export interface GoneFile extends Base {
  fileId: string;
  /** The operation by which it is told, where that is the queue. */
  operationId?: string;
}

/** An operation for the server's queue, noted while offline. */
export interface Operation {
  id: string;
  type: "upload" | "delete";
  priority: string;
  /** By the phone's clock. */
  createdAt: string;
  localPath?: string;
  remotePath?: string;
  fileId?: string;
  /** The server has it; what it said of it last. */
  status?: string;
  /** The file that it waits for was stored just where it was to be. */
  isFulfilled?: boolean;
}

/** A change that was put into a call of sync/files. It is kept, and sent again as it is, until it is answered. */
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

/** One chunk as the server planned it. */
export interface ChunkPlan {
  index: number;
  start: number;
  end: number;
  uploadUrl: string;
}

/** A content on its way up. */
export interface PendingUpload {
  localId: string;
  key: string;
  path: string;
  checksum: string;
  size: number;
  fileId?: string;
  baseChecksum?: string;
  automatic?: boolean;
  /** Once the server planned it. */
  uploadId?: string;
  uploadUrl?: string;
  chunks?: ChunkPlan[];
  alreadyStored?: boolean;
}

/** All that survives a crash of the app, except contents. */
export interface PhoneState {
  deviceId: string;
  accessToken?: string;
  refreshToken?: string;
  /** When the unanswered tries to refresh with this token began, in ms of real time. */
  refreshingSinceMs?: number;
  /** How many of them there were. */
  refreshTries?: number;
  syncToken?: string;
  /** Ids met since a sync was begun anew; what is not among them at its end is gone. */
  metSinceBegin?: string[];
  made: number;
  files: LocalFile[];
  gone: GoneFile[];
  changes: Change[];
  operations: Operation[];
  uploads: PendingUpload[];
}

/** Where a phone keeps its state and contents. */
export abstract class PhoneDisk {
  state: PhoneState;
  private saved: string;

  constructor(state: PhoneState) {
    this.state = state;
    this.saved = JSON.stringify(state);
  }

  /** What is saved survives a crash. */
  save(): void {
    this.saved = JSON.stringify(this.state);
    this.persist(this.saved);
  }

  /** After a crash: the state as it was saved last. */
  reopen(): void {
    this.state = JSON.parse(this.recall(this.saved)) as PhoneState;
  }

  /** Keeps a content; returns its checksum. */
  keep(bytes: Uint8Array<ArrayBuffer>): string {
    const checksum = checksumOf(bytes);
    this.putContent(checksum, bytes);
    return checksum;
  }

  /** A content that was kept. */
  content(checksum: string): Uint8Array<ArrayBuffer> {
    const bytes = this.getContent(checksum);
    if (bytes === undefined) throw new Error(`the phone lost ${checksum} itself`);
    return bytes;
  }

  /** Whether a content is at hand, so that it need not be fetched. */
  abstract has(checksum: string): boolean;
  protected abstract putContent(checksum: string, bytes: Uint8Array<ArrayBuffer>): void;
  protected abstract getContent(checksum: string): Uint8Array<ArrayBuffer> | undefined;
  protected abstract persist(json: string): void;
  protected abstract recall(saved: string): string;
}

/** A new phone's state. */
export function freshState(deviceId: string): PhoneState {
  return { deviceId, made: 0, files: [], gone: [], changes: [], operations: [], uploads: [] };
}

/** A disk in memory. */
export class MemoryDisk extends PhoneDisk {
  private readonly contents = new Map<string, Uint8Array<ArrayBuffer>>();

  constructor(deviceId: string) {
    super(freshState(deviceId));
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
    // The copy that the base class holds is all there is.
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
    super(freshState(deviceId));
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
