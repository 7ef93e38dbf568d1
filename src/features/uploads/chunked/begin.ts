/** Begins upload sessions. Each file is checked before anything is reserved for it. */
import { randomBytes } from "node:crypto";
import { type Digest, parseChecksum } from "../../../blobs/digest.ts";
import type { Transaction } from "../../../db/transaction.ts";
import { AppError, withPlan, invalidField, notFound, needsMoreSpace } from "../../../errors.ts";
import type { DeviceFacts } from "../../../events/catalogue.ts";
import { newId } from "../../../lib/id.ts";
import { normalizeName, normalizePath } from "../../../lib/path.ts";
import type { StorageLimits } from "../../library/files/storage-limits.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import { say, size } from "../../../translations/say.ts";
import type { User } from "../../accounts/users/types.ts";
import { planChunks } from "./chunk-plan.ts";
import { deletedByYou, findSameFile, type KnownContents, type PlannedName } from "./known-contents.ts";
import { NONCE_BYTES, type NewUpload } from "./queries.ts";
import { SESSION_MS, type ReleaseRoom, type UploadStore } from "./store.ts";
import type { FilePlan, PlannedFile, PlannedSession, Upload, UploadEntry, UploadOptions } from "./types.ts";

/** The sender: an account, through one of its devices. */
export interface Sender {
  readonly user: User;
  readonly device: DeviceFacts;
}

/** A file that a device replaces with an upload. */
interface Replacement {
  readonly accountId: number;
  readonly localId: string;
  /** Public id. */
  readonly fileId: string;
  readonly name: string;
  readonly folder: string;
  readonly sizeBytes: number;
  readonly digest: Digest | undefined;
  readonly baseDigest: Digest | undefined;
}

/** Counts files against the sender's rate limit. Returns how many may continue, and the error for the others. */
export type CountFiles = (intended: number) => { readonly taken: number; readonly rejection: AppError | undefined };

/** Dependencies of {@link SessionStarter}. */
export interface SessionStarterOptions {
  readonly store: UploadStore;
  readonly tree: TreeReader;
  readonly contents: KnownContents;
  readonly limitsOf: (user: User) => StorageLimits;
  /** Reserves room on the disk. @throws AppError disk_full */
  readonly reserveDisk: (bytes: number) => ReleaseRoom;
  /**
   * Called inside the transaction, for each file to be replaced. Rejects it if a device replaces far more than usual.
   */
  readonly admitReplacement: (tx: Transaction, device: DeviceFacts, replacement: Replacement) => AppError | undefined;
}

/** The session of a call, created when its first file is planned. */
interface OpenSession {
  readonly id: number;
  readonly nowMs: number;
  readonly expiresAtMs: number;
}

type Draft = Omit<NewUpload, "publicId" | "sessionId" | "nonce"> & { readonly isAlreadyStored: boolean };

/** The addresses of one response are signed together, so their number is limited. */
const CHUNKS_PER_CALL_MAX = 50_000;
/** Rows written in one transaction. */
const FILES_PER_TRANSACTION = 100;
const TEXT_CHARACTERS_MAX = 1024;

export class SessionStarter {
  readonly #options: SessionStarterOptions;

  constructor(options: SessionStarterOptions) {
    this.#options = options;
  }

  /**
   * Plans as many of the files as limits, quota and disk allow. Quota and room are reserved for them on return.
   * @param take called once, with the number of files that are not rejected for another reason
   * @throws the error of the first file if none could be planned; what `take` throws
   */
  async begin(
    sender: Sender,
    entries: readonly UploadEntry[],
    options: UploadOptions,
    take: CountFiles,
  ): Promise<PlannedSession> {
    const { store } = this.#options;
    const outcomes = this.#draftAll(sender, entries, options);
    const { taken, rejection } = take(outcomes.filter((outcome) => !(outcome instanceof AppError)).length);
    let allowed = taken;
    const drafts = outcomes.map((outcome) => {
      if (outcome instanceof AppError || allowed-- > 0) return outcome;
      return (
        rejection ??
        new AppError("rate_limited", say`The request contains too many files. Send the rest in another request.`)
      );
    });
    const nowMs = store.clock.nowMs();
    const publicId = newId("ups", nowMs);
    const expiresAtMs = nowMs + SESSION_MS;
    const files = await this.#write(sender, { publicId, nowMs, expiresAtMs, options }, drafts, entries);
    return { publicId, options, files, expiresAtMs };
  }

  #draftAll(sender: Sender, entries: readonly UploadEntry[], options: UploadOptions): (Draft | AppError)[] {
    const { tree, limitsOf } = this.#options;
    const limits = limitsOf(sender.user);
    // Checked against the quota here, so that files that can't fit do not count as uploads. The transaction decides.
    let freeBytes = limits.quotaBytes === null ? Infinity : limits.quotaBytes - tree.usage(sender.user.id).usedBytes;
    let chunks = 0;
    let newFiles = 0;
    return entries.map((entry) => {
      try {
        const draft = this.#draft(sender, entry, options, limits);
        const makesFile = this.#makesFile(draft);
        if (makesFile) withPlanInError(limits.plan, () => tree.rejectNodes(sender.user.id, newFiles + 1));
        const neededBytes = draft.reservedBytes - (this.#findExisting(draft)?.reservedBytes ?? 0);
        if (neededBytes > freeBytes) throw quotaExceeded(limits, neededBytes, freeBytes);
        if (chunks + draft.totalChunks > CHUNKS_PER_CALL_MAX) throw tooManyChunks();
        if (makesFile) newFiles++;
        freeBytes -= neededBytes;
        chunks += draft.totalChunks;
        return draft;
      } catch (error) {
        if (error instanceof AppError) return error;
        throw error;
      }
    });
  }

  #draft({ user, device }: Sender, entry: UploadEntry, options: UploadOptions, limits: StorageLimits): Draft {
    const { tree, contents } = this.#options;
    const name = normalizeName(entry.name);
    const folderPath = normalizePath(entry.folder ?? "/");
    const { maxFileSizeBytes: limit, plan } = limits;
    if (limit !== null && entry.size > limit) {
      throw new AppError(
        "file_too_large",
        say`A file can have at most ${size(limit)} on the ${plan} plan. Send a smaller file.`,
        { limit, plan },
      );
    }
    const chunkPlan = planChunks(entry.size, options.chunkSizeBytes);
    const digest = entry.checksum === undefined ? undefined : parseChecksum(entry.checksum);
    const baseDigest = entry.baseChecksum === undefined ? undefined : parseChecksum(entry.baseChecksum, "baseChecksum");
    if (entry.fileId !== undefined && tree.findFile(user.id, entry.fileId) === undefined)
      throw notFound(say`The file to replace was not found.`);
    const isAlreadyStored = digest !== undefined && contents.isStored(user.id, digest, entry.size);
    const isAutomatic = entry.automatic ?? options.isAutomatic;
    if (isAutomatic && digest !== undefined && !isAlreadyStored && contents.wasDeleted(user.id, digest)) {
      throw deletedByYou(digest);
    }
    const onConflict = entry.onConflict ?? "rename";
    const intended = { accountId: user.id, folderPath, name, digest, onConflict, isAutomatic };
    return {
      ...chunkPlan,
      ...intended,
      deviceId: device.id,
      localId: entry.localId,
      // The response refers to existing content, so the file needs no more room, even in a full account.
      reservedBytes: isAlreadyStored && entry.fileId === undefined && fileExists(tree, intended) ? 0 : entry.size,
      mediaType: entry.mimeType?.slice(0, TEXT_CHARACTERS_MAX),
      targetId: entry.fileId,
      baseDigest,
      isAlreadyStored,
    };
  }

  /** Whether the upload creates a new file, as far as known before its bytes arrive. */
  #makesFile(draft: Draft): boolean {
    const { tree } = this.#options;
    const { targetId, onConflict, accountId, folderPath, name } = draft;
    if (targetId !== undefined || fileExists(tree, draft)) return false;
    return onConflict !== "version" || tree.findFileNamed(accountId, folderPath, name) === undefined;
  }

  async #write(
    { user, device }: Sender,
    session: { publicId: string; nowMs: number; expiresAtMs: number; options: UploadOptions },
    drafts: readonly (Draft | AppError)[],
    entries: readonly UploadEntry[],
  ): Promise<PlannedFile[]> {
    const { store } = this.#options;
    const { publicId, nowMs, expiresAtMs, options } = session;
    const files: PlannedFile[] = [];
    let sessionId: number | undefined;
    const openSession = () => {
      sessionId ??= store.rows.insertSession({
        publicId,
        accountId: user.id,
        deviceId: device.id,
        nowMs,
        expiresAtMs,
        options,
      });
      return { id: sessionId, nowMs, expiresAtMs };
    };
    for (let from = 0; from < drafts.length; from += FILES_PER_TRANSACTION) {
      const batch = drafts.slice(from, from + FILES_PER_TRANSACTION);
      const reservedIds: number[] = [];
      const planBatch = (tx: Transaction) =>
        batch.map((draft, position): PlannedFile => {
          const localId = entries[from + position]?.localId ?? "";
          if (draft instanceof AppError) return { localId, error: draft };
          return { localId, ...this.#plan(tx, { user, device }, draft, openSession, reservedIds) };
        });
      try {
        // Room on the disk is reserved outside the database, so the transaction must not be repeated.
        files.push(...(await store.writer.run(planBatch, { isRepeatable: false })));
      } catch (error) {
        for (const id of reservedIds) store.releaseRoom(id);
        throw error;
      }
    }
    const [first] = files;
    if (first !== undefined && "error" in first && sessionId === undefined) throw first.error;
    return files;
  }

  /**
   * Plans one file, or returns why not.
   * @param reservedIds gets the upload for which room on the disk was reserved here
   */
  #plan(
    tx: Transaction,
    { user, device }: Sender,
    draft: Draft,
    openSession: () => OpenSession,
    reservedIds: number[],
  ): FilePlan {
    const { isAlreadyStored } = draft;
    const existing = this.#findExisting(draft);
    // An upload that continues was admitted when it began.
    const rejection = existing === undefined ? this.#admit(tx, device, draft) : undefined;
    if (rejection !== undefined) return { error: rejection };
    try {
      if (existing?.chunkSizeBytes === draft.chunkSizeBytes && !this.#options.store.isExpired(existing)) {
        return { ...this.#continueUpload(existing, draft, openSession()), isAlreadyStored };
      }
      const upload = this.#reserve(tx, user, draft, openSession, existing);
      reservedIds.push(upload.id);
      return { upload, completedChunks: [], isAlreadyStored };
    } catch (error) {
      if (error instanceof AppError) return { error };
      throw error;
    }
  }

  /** Returns a rejection instead of throwing it, so that its record stays in the transaction. */
  #admit(tx: Transaction, device: DeviceFacts, draft: Draft): AppError | undefined {
    const { targetId: fileId, accountId, localId, name, folderPath: folder, sizeBytes, digest, baseDigest } = draft;
    if (fileId === undefined) return undefined;
    const replacement = { accountId, localId, fileId, name, folder, sizeBytes, digest, baseDigest };
    return this.#options.admitReplacement(tx, device, replacement);
  }

  /** The open upload of this device for the same file, which is recognized by its digest. */
  #findExisting({ digest, ...draft }: Draft): Upload | undefined {
    return digest && this.#options.store.rows.findOpen({ ...draft, digest });
  }

  /**
   * Continues an existing upload, for an app that lost its state and sends the file again. Stored chunks stay, and room
   * is reserved only once.
   */
  #continueUpload(existing: Upload, draft: Draft, session: OpenSession): { upload: Upload; completedChunks: number[] } {
    const { rows } = this.#options.store;
    const { mediaType, onConflict, baseDigest, isAutomatic } = draft;
    const intended = { sessionId: session.id, mediaType, onConflict, baseDigest, isAutomatic };
    rows.renew(existing.id, intended);
    const completedChunks = rows.chunks(existing.id).map(({ idx }) => idx);
    return { upload: { ...existing, ...intended, expiresAtMs: session.expiresAtMs }, completedChunks };
  }

  /**
   * Reserves quota and room for one file and writes its row. If it throws, nothing has changed.
   * @param existing an upload to replace, together with its reserved quota, because its chunks differed or it has expired
   */
  #reserve(
    tx: Transaction,
    user: User,
    { isAlreadyStored, ...draft }: Draft,
    openSession: () => OpenSession,
    existing: Upload | undefined,
  ): Upload {
    const { store, limitsOf, reserveDisk } = this.#options;
    const limits = limitsOf(user);
    const release = reserveDisk(isAlreadyStored ? 0 : draft.sizeBytes);
    try {
      const addedBytes = draft.reservedBytes - (existing?.reservedBytes ?? 0);
      withPlanInError(limits.plan, () => store.treeWriter.reserveBytes(tx, user.id, addedBytes, limits.quotaBytes));
      if (existing !== undefined) {
        store.end(tx, { ...existing, reservedBytes: 0 }, store.isExpired(existing) ? "expired" : "cancelled");
      }
      const { id: sessionId, nowMs, expiresAtMs } = openSession();
      const publicId = newId("upl", nowMs);
      const upload = { ...draft, publicId, sessionId, nonce: randomBytes(NONCE_BYTES) };
      const id = store.rows.insert(upload, nowMs);
      store.holdRoom(id, release);
      return { ...upload, id, status: "pending", expiresAtMs, fileId: undefined };
    } catch (error) {
      release();
      throw error;
    }
  }
}

/** The options of a session. @throws AppError invalid_field */
export function checkRetries(maxRetries: number | undefined): number {
  if (maxRetries === undefined) return 3;
  if (Number.isInteger(maxRetries) && maxRetries >= 0 && maxRetries <= 20) return maxRetries;
  throw invalidField("uploadOptions.maxRetries", say`maxRetries must be a whole number from 0 to 20.`);
}

/** Whether the account already has the file that would be created. */
function fileExists(
  tree: TreeReader,
  { digest, ...intended }: Omit<PlannedName, "digest"> & { digest?: Digest | undefined },
) {
  return digest !== undefined && findSameFile(tree, { ...intended, digest }) !== undefined;
}

/** Runs a check of the quota and adds the plan to its rejections. */
function withPlanInError(plan: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    throw withPlan(error, plan);
  }
}

function quotaExceeded({ quotaBytes, plan }: StorageLimits, required: number, freeBytes: number): AppError {
  return new AppError("quota_exceeded", needsMoreSpace(required, freeBytes, quotaBytes ?? 0), {
    limit: quotaBytes,
    required,
    plan,
  });
}

function tooManyChunks(): AppError {
  return new AppError(
    "chunk_size",
    say`A request can plan at most ${CHUNKS_PER_CALL_MAX} chunks. Choose larger chunks, or plan the rest in another request.`,
    { field: "uploadOptions.chunkSize", limit: CHUNKS_PER_CALL_MAX },
  );
}
