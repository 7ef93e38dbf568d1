// An app that backs up a camera roll. It offers all pictures, and starts again from the first one each time it is
// killed, because it saves nothing but its tokens.
import type { PendingUpload, PhoneDisk } from "./disk.ts";
import { maybeText } from "./http.ts";
import type { Ledger } from "./ledger.ts";
import { splitPath } from "./local-folder.ts";
import type { Random } from "./random.ts";
import { PhoneCrashed, PhoneSession, type PhoneSetup, retryWhileDown } from "./session.ts";
import { type UploadEnd, Uploader, defaultHabits } from "./uploader.ts";

/** A picture of the camera roll. */
export interface Picture {
  path: string;
  checksum: string;
  size: number;
}

/** The result for an offered picture. */
type PictureEnd = { kind: "stored" | "already_stored"; fileId: string } | { kind: "deleted_by_you" };

/** Options of {@link CameraRoll}. */
interface CameraRollOptions extends PhoneSetup {
  ledger: Ledger;
  /** Share of steps after which the app is killed. */
  crashes: number;
}

const picturesPerCall = 12;

/** How often the app tries a request on a bad line before it stops the backup. */
const triesMax = 5;

/** One run of the backup app. */
export class CameraRoll {
  readonly session: PhoneSession;
  private readonly uploader: Uploader;
  private readonly random: Random;

  constructor(
    disk: PhoneDisk,
    private readonly pictures: Picture[],
    private readonly options: CameraRollOptions,
  ) {
    this.random = options.random;
    this.session = new PhoneSession(disk, options);
    const chunkSizes = [128 * 1024, 256 * 1024, 512 * 1024];
    const habits = { ...defaultHabits, crash: options.crashes > 0 ? 0.005 : 0 };
    const { ledger } = options;
    this.uploader = new Uploader({ disk, session: this.session, random: this.random, ledger, habits, chunkSizes });
  }

  /** Offers all pictures. @returns the results by path @throws PhoneCrashed or LineDown if it did not finish */
  async backUp(): Promise<Map<string, PictureEnd>> {
    const ends = new Map<string, PictureEnd>();
    for (let from = 0; from < this.pictures.length; from += picturesPerCall) {
      const some = this.pictures.slice(from, from + picturesPerCall);
      // Some apps ask first which pictures are missing, others plan the uploads at once.
      const asksFirst = this.random.chance(0.5);
      const missing = asksFirst ? await retryWhileDown(() => this.findMissing(some, ends), triesMax) : some;
      await this.send(missing, ends);
    }
    return ends;
  }

  private async findMissing(pictures: Picture[], ends: Map<string, PictureEnd>): Promise<Picture[]> {
    const response = await this.session.call("POST", "/api/mobile/sync/files", {
      localChanges: pictures.map(({ path, checksum, size }) => ({
        action: "upload",
        localId: path,
        ...splitPath(path),
        size,
        checksum,
        lastModified: "2026-01-02T03:04:05.000Z",
        automatic: true,
      })),
    });
    this.step();
    const missing: Picture[] = [];
    for (const result of response.expect(200).records("data.results")) {
      const picture = pictures.find(({ path }) => path === result["localId"]);
      if (picture === undefined) throw response.unexpected("a result for a picture that was not offered");
      const fileId = maybeText(result, "fileId");
      const { status } = result;
      if (status === "upload_required") missing.push(picture);
      else if (status === "rejected" && maybeText(result, "error.details.reason") === "deleted_by_you")
        ends.set(picture.path, { kind: "deleted_by_you" });
      else if ((status === "already_stored" || status === "applied") && fileId !== undefined)
        ends.set(picture.path, { kind: "already_stored", fileId });
      else throw response.unexpected(`an unknown result: ${JSON.stringify(result)}`);
    }
    return missing;
  }

  private async send(pictures: Picture[], ends: Map<string, PictureEnd>): Promise<void> {
    if (pictures.length === 0) return;
    const uploads = pictures.map(
      ({ path, checksum, size }): PendingUpload => ({
        localId: path,
        key: path,
        path,
        checksum,
        size,
        automatic: true,
      }),
    );
    const rejected = await retryWhileDown(() => this.uploader.plan(uploads), triesMax);
    this.step();
    for (const upload of uploads) {
      const end = rejected.get(upload) ?? (await retryWhileDown(() => this.uploader.finish(upload), triesMax));
      this.step();
      ends.set(upload.path, endOf(upload, end));
    }
  }

  private step(): void {
    if (this.random.chance(this.options.crashes)) throw new PhoneCrashed("the system killed the backup");
  }
}

function endOf(upload: PendingUpload, end: UploadEnd): PictureEnd {
  if (end.kind === "stored")
    return { kind: upload.alreadyStored === true ? "already_stored" : "stored", fileId: end.fileId };
  if (end.kind === "rejected" && end.reason === "deleted_by_you") return { kind: "deleted_by_you" };
  throw new Error(`${upload.path} has an unexpected result: ${JSON.stringify(end)}`);
}
