// What everybody was promised, and what was given up on purpose: at the end the server is held to it.

/** One content that somebody made. */
export interface Promised {
  /** A few words on who made it. */
  origin: string;
  /** Files it was acknowledged for. */
  fileIds: Set<string>;
  /** Why it need not be found at the end, where somebody said so. */
  givenUp?: string;
}

/** Notes of all phones and of the web: what was made, acknowledged, deleted on purpose. */
export class Ledger {
  readonly contents = new Map<string, Promised>();
  /** Contents that lie in two files because somebody wanted it so. */
  readonly doubledOnPurpose = new Set<string>();
  /** Files that somebody meant to delete, whether or not it came to that. */
  readonly deletedFiles = new Map<string, string>();
  /** Times (ms) in which folders were deleted with all that was in them. */
  readonly folderDeletions: { fromMs: number; toMs: number }[] = [];
  /** Chunks that were answered 200, by upload: none of them may be missing later. */
  readonly acknowledgedChunks = new Map<string, Set<number>>();
  /** Whatever is worth knowing when a run fails. */
  readonly lines: string[] = [];

  /** Somebody made a content; nobody else has it. */
  made(checksum: string, origin: string): void {
    if (!this.contents.has(checksum)) this.contents.set(checksum, { origin, fileIds: new Set() });
  }

  /** The server answered that this content is stored as this file. */
  stored(checksum: string, fileId: string): void {
    const promised = this.contents.get(checksum) ?? { origin: "unknown", fileIds: new Set() };
    promised.fileIds.add(fileId);
    this.contents.set(checksum, promised);
  }

  /** A content that never reached the server was thrown away by its user. Once stored, it stays promised. */
  givenUp(checksum: string, why: string): void {
    const promised = this.contents.get(checksum);
    if (promised !== undefined) promised.givenUp = why;
  }

  /** Bytes that were given up or whose file goes are wanted again. */
  wantedAgain(checksum: string): void {
    const promised = this.contents.get(checksum);
    if (promised !== undefined) delete promised.givenUp;
  }

  /** Said before the request is sent: its answer may be lost. */
  willDelete(fileId: string, who: string): void {
    this.deletedFiles.set(fileId, who);
    this.note(`${who} deletes ${fileId}`);
  }

  acknowledgeChunk(uploadId: string, index: number): void {
    const chunks = this.acknowledgedChunks.get(uploadId) ?? new Set();
    this.acknowledgedChunks.set(uploadId, chunks.add(index));
  }

  note(line: string): void {
    this.lines.push(`${Date.now()} ${line}`);
  }

  /** Whether a content must be found in the end. */
  isOwed(promised: Promised, wasDeletedWithFolder: (fileId: string) => boolean): boolean {
    if (promised.fileIds.size === 0) return promised.givenUp === undefined;
    return ![...promised.fileIds].every((id) => this.deletedFiles.has(id) || wasDeletedWithFolder(id));
  }
}
