// An app that backs up a camera roll by night: it offers every picture, again and again from the start, because it is
// killed again and again and remembers nothing but its tokens.
import type { PendingUpload, PhoneDisk } from "./disk.ts";
import { maybeText } from "./http.ts";
import type { Ledger } from "./ledger.ts";
import { splitPath } from "./local-folder.ts";
import type { Random } from "./random.ts";
import { PhoneCrashed, PhoneSession, type PhoneSetup, untilHeard } from "./session.ts";
import { type UploadEnd, Uploader, usualHabits } from "./uploader.ts";

/** One picture of the roll. */
export interface Picture {
  path: string;
  checksum: string;
  size: number;
}

/** How an offered picture ended. */
export type PictureEnd = { kind: "stored" | "already_stored"; fileId: string } | { kind: "deleted_by_you" };

/** What surrounds the app. */
export interface CameraRollOptions extends PhoneSetup {
  ledger: Ledger;
  /** Share of steps at which the app is killed. */
  crashes: number;
}

const picturesPerCall = 12;

/** How often the app tries one thing on a bad line before it gives the night up. */
const triesMax = 5;

/** One life of the backup app. */
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
    const habits = { ...usualHabits, crash: options.crashes > 0 ? 0.005 : 0 };
    this.uploader = new Uploader(disk, this.session, this.random, options.ledger, habits, chunkSizes);
  }

  /** Offers all pictures. @returns how each ended, by path @throws PhoneCrashed or LineDown where it did not get to the end */
  async backUp(): Promise<Map<string, PictureEnd>> {
    const ends = new Map<string, PictureEnd>();
    for (let from = 0; from < this.pictures.length; from += picturesPerCall) {
      const some = this.pictures.slice(from, from + picturesPerCall);
      // Two kinds of apps there are: one asks what is wanted, the other announces at once what it has.
      const isAsking = this.random.chance(0.5);
      const wanted = isAsking ? await untilHeard(() => this.ask(some, ends), triesMax) : some;
      await this.send(wanted, ends);
    }
    return ends;
  }

  private async ask(pictures: Picture[], ends: Map<string, PictureEnd>): Promise<Picture[]> {
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
    const wanted: Picture[] = [];
    for (const result of response.expect(200).records("data.results")) {
      const picture = pictures.find(({ path }) => path === result["localId"]);
      if (picture === undefined) throw response.unexpected("a result for nothing that was offered");
      const fileId = maybeText(result, "fileId");
      const { status } = result;
      if (status === "upload_required") wanted.push(picture);
      else if (status === "rejected" && maybeText(result, "error.details.reason") === "deleted_by_you")
        ends.set(picture.path, { kind: "deleted_by_you" });
      else if ((status === "already_stored" || status === "applied") && fileId !== undefined)
        ends.set(picture.path, { kind: "already_stored", fileId });
      else throw response.unexpected(`no end that the app can read: ${JSON.stringify(result)}`);
    }
    return wanted;
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
    const refused = await untilHeard(() => this.uploader.plan(uploads), triesMax);
    this.step();
    for (const upload of uploads) {
      const end = refused.get(upload) ?? (await untilHeard(() => this.uploader.finish(upload), triesMax));
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
  if (end.kind === "refused" && end.reason === "deleted_by_you") return { kind: "deleted_by_you" };
  throw new Error(`${upload.path} came to no end that the app can read: ${JSON.stringify(end)}`);
}
