// Uploads files like a phone on an unreliable connection: chunks in any order, concurrently, repeated, or cut.
import type { ChunkPlan, PendingUpload, PhoneDisk } from "./disk.ts";
import { type ApiResponse, UnexpectedResponse, maybeText, sendCut, textOf, valueAt } from "./http.ts";
import type { Ledger } from "./ledger.ts";
import { joinPath, splitPath } from "./local-folder.ts";
import type { Random } from "./random.ts";
import { PhoneCrashed, type PhoneSession } from "./session.ts";

/** The result of an upload. */
export type UploadEnd =
  /** `checksum` is that of the current file, which may have changed since the upload was completed. */
  | { kind: "stored"; fileId: string; path: string; checksum: string }
  | { kind: "rejected"; reason: string; details: unknown }
  /** The server has dropped the upload (expired, cancelled): it has to be planned again. */
  | { kind: "forgotten" };

/** Probabilities, per chunk or upload. */
export interface UploadHabits {
  /** A chunk is sent twice at the same time. */
  twice: number;
  /** A chunk is cut after some bytes, then sent again. */
  cut: number;
  /** The app crashes while it sends a chunk. */
  crash: number;
  /** A chunk is sent with the signed URL; otherwise with the access token. */
  signed: number;
  /** The whole file is sent in one PUT request. */
  whole: number;
  /** The upload is completed twice. */
  completeTwice: number;
}

/** A phone on an unreliable connection. */
export const defaultHabits: UploadHabits = {
  twice: 0.15,
  cut: 0.1,
  crash: 0.02,
  signed: 0.5,
  whole: 0.1,
  completeTwice: 0.2,
};

const parallelMax = 3;
const roundsMax = 30;

/** Options of {@link Uploader}. */
interface UploaderOptions {
  disk: PhoneDisk;
  session: PhoneSession;
  random: Random;
  ledger: Ledger;
  habits: UploadHabits;
  chunkSizes?: number[];
}

/** Uploads files in upload sessions. */
export class Uploader {
  private readonly disk: PhoneDisk;
  private readonly session: PhoneSession;
  private readonly random: Random;
  private readonly ledger: Ledger;
  private readonly habits: UploadHabits;
  private readonly chunkSizes: number[];

  constructor({ disk, session, random, ledger, habits, chunkSizes = [1024, 2048, 4096, 8192] }: UploaderOptions) {
    this.disk = disk;
    this.session = session;
    this.random = random;
    this.ledger = ledger;
    this.habits = habits;
    this.chunkSizes = chunkSizes;
  }

  /** Plans uploads in one request. @returns the rejected ones; the others have an upload id now */
  async plan(uploads: PendingUpload[]): Promise<Map<PendingUpload, UploadEnd>> {
    const ended = new Map<PendingUpload, UploadEnd>();
    const response = await this.session.call("POST", "/api/mobile/upload/init", {
      files: uploads.map((upload) => ({
        localId: upload.localId,
        ...splitPath(upload.path),
        size: upload.size,
        mimeType: "image/jpeg",
        checksum: upload.checksum,
        priority: "high",
        ...(upload.fileId === undefined ? {} : { fileId: upload.fileId }),
        ...(upload.baseChecksum === undefined ? {} : { baseChecksum: upload.baseChecksum }),
        ...(upload.automatic === undefined ? {} : { automatic: upload.automatic }),
      })),
      uploadOptions: { wifiOnly: false, chunkSize: this.random.pick(this.chunkSizes), maxRetries: 3 },
    });
    if (response.status !== 200) {
      // If all uploads were rejected, the response is the error of the first one.
      const [only, ...more] = uploads;
      if (only === undefined || response.reason === undefined || response.status >= 500) throw response.unexpected();
      if (more.length === 0) return ended.set(only, rejection(response.at("error")));
      for (const upload of uploads) for (const [one, end] of await this.plan([upload])) ended.set(one, end);
      return ended;
    }
    for (const entry of response.records("data.files")) {
      const upload = uploads.find(({ localId }) => localId === entry["localId"]);
      if (upload === undefined) throw response.unexpected("an entry for an unknown upload");
      if (entry["error"] !== undefined) {
        ended.set(upload, rejection(entry["error"]));
        continue;
      }
      upload.uploadId = textOf(entry, "uploadId");
      upload.uploadUrl = textOf(entry, "uploadUrl");
      upload.chunks = entry["chunks"] as ChunkPlan[];
      upload.alreadyStored = entry["alreadyStored"] === true;
      checkPlan(upload, response);
    }
    this.disk.save();
    return ended;
  }

  /** Sends the missing chunks of a planned upload and completes it. */
  async finish(upload: PendingUpload): Promise<UploadEnd> {
    const uploadId = upload.uploadId ?? "";
    for (let round = 0; round < roundsMax; round++) {
      if (upload.alreadyStored !== true || round > 0) {
        const missing = await this.missingChunks(uploadId);
        if (missing === undefined) return { kind: "forgotten" };
        await this.sendChunks(upload, missing);
      }
      if (this.random.chance(0.1)) await this.reportProgress(upload);
      const response = await this.complete(upload);
      if (response.status === 404 || response.status === 410) return { kind: "forgotten" };
      if (response.status === 409 && response.reason === "upload_state") {
        if (!Array.isArray(response.at("error.details.missingChunks"))) return { kind: "forgotten" };
        continue;
      }
      if (response.status !== 200) {
        if (response.reason === undefined || response.status >= 500) throw response.unexpected();
        return rejection(response.at("error"));
      }
      return this.noteStored(upload, response);
    }
    throw new UnexpectedResponse(`${uploadId} is not complete after ${roundsMax} rounds`);
  }

  private noteStored(upload: PendingUpload, response: ApiResponse): UploadEnd {
    const fileId = response.text("data.id");
    const checksum = response.text("data.checksum");
    if (checksum !== upload.checksum && response.at("data.version") === 1)
      throw response.unexpected("other content than was sent");
    this.ledger.stored(upload.checksum, fileId);
    return {
      kind: "stored",
      fileId,
      path: joinPath(response.text("data.folder"), response.text("data.name")),
      checksum,
    };
  }

  private async complete(upload: PendingUpload): Promise<ApiResponse> {
    const body = {
      uploadId: upload.uploadId,
      ...(this.random.chance(0.8) ? { checksum: upload.checksum } : {}),
      metadata: { location: "48.2082,16.3738", capturedAt: "2026-01-02T03:04:05.000Z" },
    };
    const first = await this.session.call("POST", "/api/mobile/upload/complete", body);
    if (first.status !== 200 || !this.random.chance(this.habits.completeTwice)) return first;
    const second = await this.session.call("POST", "/api/mobile/upload/complete", body);
    if (second.status !== 200 || second.text("data.id") !== first.text("data.id"))
      throw second.unexpected(`completed twice, first as ${first.text("data.id")}`);
    return second;
  }

  /** The chunks that the server lacks; undefined if it has dropped the upload. */
  private async missingChunks(uploadId: string): Promise<number[] | undefined> {
    const response = await this.session.call("GET", `/api/mobile/upload/${uploadId}`);
    if (response.status === 404 || response.status === 410) return undefined;
    response.expect(200);
    const status = response.text("data.status");
    if (status === "completed") return [];
    if (status === "expired" || status === "cancelled") return undefined;
    const missing = response.at("data.missingChunks");
    if (!Array.isArray(missing)) throw response.unexpected("no missingChunks");
    const acknowledged = this.ledger.acknowledgedChunks.get(uploadId) ?? new Set();
    const lost = missing.filter((index: number) => acknowledged.has(index));
    if (lost.length > 0) throw response.unexpected(`chunks ${lost.join()} were acknowledged before`);
    return missing as number[];
  }

  private async sendChunks(upload: PendingUpload, missing: number[]): Promise<void> {
    if (missing.length === 0) return;
    const content = this.disk.content(upload.checksum);
    if (upload.uploadUrl !== undefined && this.random.chance(this.habits.whole)) {
      const response = await this.put(upload.uploadUrl, content);
      this.isChunkStored(response);
      return;
    }
    const waiting = this.random.shuffled((upload.chunks ?? []).filter(({ index }) => missing.includes(index)));
    const sendWaiting = async () => {
      for (;;) {
        const chunk = waiting.pop();
        if (chunk === undefined) return;
        await this.sendChunk(upload, chunk, content);
      }
    };
    const senders = Array.from({ length: this.random.between(1, parallelMax) }, sendWaiting);
    const ends = await Promise.allSettled(senders);
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  }

  private async sendChunk(upload: PendingUpload, chunk: ChunkPlan, content: Uint8Array<ArrayBuffer>): Promise<void> {
    const bytes = content.slice(chunk.start, chunk.end + 1);
    if (this.random.chance(this.habits.crash)) {
      await this.cut(chunk.uploadUrl, bytes);
      throw new PhoneCrashed("the app crashed while it sent a chunk");
    }
    if (this.random.chance(this.habits.cut)) await this.cut(chunk.uploadUrl, bytes);
    const puts = [this.put(chunk.uploadUrl, bytes)];
    if (this.random.chance(this.habits.twice)) puts.push(this.put(chunk.uploadUrl, bytes));
    const ends = await Promise.allSettled(puts);
    for (const end of ends) {
      if (end.status === "rejected") throw end.reason;
      if (this.isChunkStored(end.value)) this.ledger.acknowledgeChunk(upload.uploadId ?? "", chunk.index);
    }
  }

  /** Whether the server has the chunk. It is false for a completed, expired or dropped upload. */
  private isChunkStored(response: ApiResponse): boolean {
    if (response.status === 409 || response.status === 410 || response.status === 404) return false;
    response.expect(200);
    const index = response.at("data.index");
    const completed = response.at("data.completedChunks");
    if (typeof index === "number" && Array.isArray(completed) && !completed.includes(index))
      throw response.unexpected("an acknowledged chunk is not listed as completed");
    return true;
  }

  private async put(uploadUrl: string, bytes: Uint8Array<ArrayBuffer>): Promise<ApiResponse> {
    if (this.random.chance(this.habits.signed))
      return this.session.send("PUT", uploadUrl, { "content-type": "application/octet-stream" }, bytes);
    const plain = uploadUrl.split("?")[0] ?? uploadUrl;
    const withToken = () => ({
      "content-type": "application/octet-stream",
      authorization: `Bearer ${this.session.accessToken}`,
    });
    const response = await this.session.send("PUT", plain, withToken(), bytes);
    if (response.status !== 401) return response;
    await this.session.refresh();
    return this.session.send("PUT", plain, withToken(), bytes);
  }

  private async cut(uploadUrl: string, bytes: Uint8Array): Promise<void> {
    await sendCut(
      uploadUrl,
      { "content-type": "application/octet-stream" },
      bytes,
      this.random.between(0, Math.max(0, bytes.length - 1)),
    );
  }

  /** Reports all chunks as complete, which may be wrong: the server must trust only what it has received. */
  private async reportProgress(upload: PendingUpload): Promise<void> {
    const response = await this.session.call("POST", "/api/mobile/upload/progress", {
      uploadId: upload.uploadId,
      completedChunks: (upload.chunks ?? []).map(({ index }) => index),
      bytesUploaded: upload.size,
      status: "uploading",
    });
    if (![404, 409, 410].includes(response.status)) response.expect(200);
  }
}

function rejection(error: unknown): UploadEnd {
  return {
    kind: "rejected",
    reason: maybeText(error, "details.reason") ?? `unexplained: ${JSON.stringify(error)}`,
    details: valueAt(error, "details"),
  };
}

/** Checks that the chunks cover the whole file, in order and without overlaps. */
function checkPlan(upload: PendingUpload, response: ApiResponse): void {
  let next = 0;
  for (const [at, chunk] of (upload.chunks ?? []).entries()) {
    if (chunk.index !== at || chunk.start !== next || chunk.end < chunk.start)
      throw response.unexpected(`chunk ${at} of ${upload.localId} does not follow the one before`);
    next = chunk.end + 1;
  }
  if (next !== upload.size) throw response.unexpected(`the chunks of ${upload.localId} have ${next} bytes in total`);
}
