// Chunks in any order, some side by side, some twice, some cut: what a phone does on the way home.
import type { ChunkPlan, PendingUpload, PhoneDisk } from "./disk.ts";
import { type ApiResponse, UnexpectedResponse, maybeText, sendCut, textOf, valueAt } from "./http.ts";
import type { Ledger } from "./ledger.ts";
import { joinPath, splitPath } from "./local-folder.ts";
import type { Random } from "./random.ts";
import { PhoneCrashed, type PhoneSession } from "./session.ts";

/** How an offered content ended. */
export type UploadEnd =
  /** `checksum` is of the file as it is now: another one where it was completed before and changed since. */
  | { kind: "stored"; fileId: string; path: string; checksum: string }
  | { kind: "refused"; reason: string; details: unknown }
  /** The server forgot the upload (expired, cancelled): it is to be planned anew. */
  | { kind: "forgotten" };

/** By chance, per chunk or upload. */
export interface UploadHabits {
  /** Sent twice, the second beside the first. */
  twice: number;
  /** Cut after some bytes, then sent whole. */
  cut: number;
  /** The app dies with half a chunk sent. */
  crash: number;
  /** By the signature of its address alone; else by the token alone. */
  signed: number;
  /** The file in one PUT to its own address. */
  whole: number;
  /** Completed a second time. */
  completeTwice: number;
}

/** A phone with little luck. */
export const usualHabits: UploadHabits = {
  twice: 0.15,
  cut: 0.1,
  crash: 0.02,
  signed: 0.5,
  whole: 0.1,
  completeTwice: 0.2,
};

const lanesMax = 3;
const roundsMax = 30;

/** Sends contents by upload sessions. */
export class Uploader {
  constructor(
    private readonly disk: PhoneDisk,
    private readonly session: PhoneSession,
    private readonly random: Random,
    private readonly ledger: Ledger,
    private readonly habits: UploadHabits = usualHabits,
    private readonly chunkSizes: number[] = [1024, 2048, 4096, 8192],
  ) {}

  /** Plans uploads in one call. Those that are refused come back; the others have an upload id from now on. */
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
      // Where every one was refused, the call is refused with the first one's error.
      const [only, ...more] = uploads;
      if (only === undefined || response.reason === undefined || response.status >= 500) throw response.unexpected();
      if (more.length === 0) return ended.set(only, rejection(response.at("error")));
      for (const upload of uploads) for (const [one, end] of await this.plan([upload])) ended.set(one, end);
      return ended;
    }
    for (const entry of response.records("data.files")) {
      const upload = uploads.find(({ localId }) => localId === entry["localId"]);
      if (upload === undefined) throw response.unexpected("an entry that nobody asked for");
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

  /** Sends what is missing of a planned upload and completes it. */
  async finish(upload: PendingUpload): Promise<UploadEnd> {
    const uploadId = upload.uploadId ?? "";
    for (let round = 0; round < roundsMax; round++) {
      if (upload.alreadyStored !== true || round > 0) {
        const missing = await this.missingChunks(uploadId);
        if (missing === undefined) return { kind: "forgotten" };
        await this.sendChunks(upload, missing);
      }
      if (this.random.chance(0.1)) await this.claim(upload);
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
    throw new UnexpectedResponse(`${uploadId} never became complete in ${roundsMax} rounds`);
  }

  private noteStored(upload: PendingUpload, response: ApiResponse): UploadEnd {
    const fileId = response.text("data.id");
    const checksum = response.text("data.checksum");
    if (checksum !== upload.checksum && response.at("data.version") === 1)
      throw response.unexpected("another content than was sent");
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

  /** By the server's own account; undefined where it knows no such upload any more. */
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
      this.checkChunkResponse(response);
      return;
    }
    const waiting = this.random.shuffled((upload.chunks ?? []).filter(({ index }) => missing.includes(index)));
    const lane = async () => {
      for (;;) {
        const chunk = waiting.pop();
        if (chunk === undefined) return;
        await this.sendChunk(upload, chunk, content);
      }
    };
    const lanes = Array.from({ length: this.random.between(1, lanesMax) }, lane);
    const ends = await Promise.allSettled(lanes);
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  }

  private async sendChunk(upload: PendingUpload, chunk: ChunkPlan, content: Uint8Array<ArrayBuffer>): Promise<void> {
    const bytes = content.slice(chunk.start, chunk.end + 1);
    if (this.random.chance(this.habits.crash)) {
      await this.cut(chunk.uploadUrl, bytes);
      throw new PhoneCrashed("half a chunk is on its way");
    }
    if (this.random.chance(this.habits.cut)) await this.cut(chunk.uploadUrl, bytes);
    const puts = [this.put(chunk.uploadUrl, bytes)];
    if (this.random.chance(this.habits.twice)) puts.push(this.put(chunk.uploadUrl, bytes));
    const ends = await Promise.allSettled(puts);
    for (const end of ends) {
      if (end.status === "rejected") throw end.reason;
      if (this.checkChunkResponse(end.value)) this.ledger.acknowledgeChunk(upload.uploadId ?? "", chunk.index);
    }
  }

  /** True where the server has the chunk. An upload that is completed, expired or gone is found out by its status. */
  private checkChunkResponse(response: ApiResponse): boolean {
    if (response.status === 409 || response.status === 410 || response.status === 404) return false;
    response.expect(200);
    const index = response.at("data.index");
    const completed = response.at("data.completedChunks");
    if (typeof index === "number" && Array.isArray(completed) && !completed.includes(index))
      throw response.unexpected("a chunk that was taken is not among the completed ones");
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

  /** Tells the server of progress that there may not have been: what it has is what it has. */
  private async claim(upload: PendingUpload): Promise<void> {
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
    kind: "refused",
    reason: maybeText(error, "details.reason") ?? `unexplained: ${JSON.stringify(error)}`,
    details: valueAt(error, "details"),
  };
}

/** The chunks must be the whole file, once, in order. */
function checkPlan(upload: PendingUpload, response: ApiResponse): void {
  let next = 0;
  for (const [at, chunk] of (upload.chunks ?? []).entries()) {
    if (chunk.index !== at || chunk.start !== next || chunk.end < chunk.start)
      throw response.unexpected(`chunk ${at} of ${upload.localId} does not follow`);
    next = chunk.end + 1;
  }
  if (next !== upload.size) throw response.unexpected(`the chunks of ${upload.localId} make ${next} bytes`);
}
