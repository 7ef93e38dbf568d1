// Several phones and a browser on one account, each by itself and all at once, and what must hold when they come to rest.
import { DirectoryDisk, MemoryDisk, type PhoneDisk } from "./disk.ts";
import { BadLine, type LineQuality } from "./bad-line.ts";
import { type SeenResponse, checksumOf } from "./http.ts";
import { Ledger } from "./ledger.ts";
import { Phone } from "./phone.ts";
import { Random } from "./random.ts";
import { type Credentials, isPassing, untilHeard } from "./session.ts";
import { earlierContents, deletionTimes } from "./store.ts";
import { usualHabits } from "./uploader.ts";
import { type ListedFile, WebClient } from "./web-client.ts";

/** The server under test, as far as a household needs to know it. */
export interface HouseServer {
  readonly port: number;
  readonly dataDir: string;
  readonly responses: SeenResponse[];
}

/** An account with a browser signed in. */
export interface HouseAccount extends Credentials {
  token: string;
}

/** How a household lives. */
export interface HouseholdOptions {
  seed: number;
  phones: number;
  /** Turns of each phone, and of the browser. */
  turns: number;
  line: LineQuality;
  /** Share of steps at which a phone's app dies. */
  crashes: number;
  /** Where the first phone keeps its folder; in memory without. */
  directory?: string;
  hasBrowser?: boolean;
}

const dayMs = 86_400_000;
const restRoundsMax = 25;

/** One phone and what it is told to use; the app in it dies and is started again. */
class Handset {
  phone: Phone;
  isOnline = true;
  crashCount = 0;
  signOutCount = 0;
  conflictCount = 0;
  nameConflictCount = 0;

  constructor(
    readonly disk: PhoneDisk,
    private readonly make: (disk: PhoneDisk) => Phone,
  ) {
    this.phone = make(disk);
  }

  /** The app is gone; what was saved is there. */
  restartApp(): void {
    this.crashCount += 1;
    this.collect();
    this.disk.reopen();
    this.phone = this.make(this.disk);
  }

  /** Takes the app's counts before it goes. */
  collect(): void {
    this.signOutCount += this.phone.session.signOutCount;
    this.conflictCount += this.phone.conflictCount;
    this.nameConflictCount += this.phone.nameConflictCount;
    this.phone.session.signOutCount = 0;
    this.phone.conflictCount = 0;
    this.phone.nameConflictCount = 0;
  }
}

/** Phones, browser, lines, and notes of all promises. */
export class Household {
  readonly ledger = new Ledger();
  readonly handsets: Handset[] = [];
  readonly web: WebClient;
  private readonly random: Random;
  private isServerUp = true;
  /** Whether everybody had their turns. */
  isOver = false;
  /** Whoever waits for answers, and for how many in all. */
  private readonly waiting = new Map<() => void, number>();

  private constructor(
    private readonly server: HouseServer,
    private readonly account: HouseAccount,
    private readonly options: HouseholdOptions,
    private readonly line: BadLine,
    private readonly webLine: BadLine,
  ) {
    this.random = new Random(options.seed);
    const onResponse = (response: SeenResponse) => {
      server.responses.push(response);
      this.wake();
    };
    this.web = new WebClient({
      url: webLine.url,
      token: account.token,
      random: this.random.branch("web"),
      ledger: this.ledger,
      onResponse,
    });
    for (let number = 1; number <= options.phones; number++) this.addPhone(`phone-${number}`, onResponse);
  }

  /** Sets everything up; phones are registered over good lines. */
  static async open(server: HouseServer, account: HouseAccount, options: HouseholdOptions): Promise<Household> {
    // While the server is away, its port may be another's.
    const portOf = () => (household.isServerUp ? server.port : 0);
    const random = new Random(options.seed);
    const good = { cuts: 0, cutWithinBytes: 0 };
    const line = await BadLine.open(portOf, random.branch("line"), good);
    const household: Household = new Household(
      server,
      account,
      options,
      line,
      await BadLine.open(portOf, random.branch("web line"), good),
    );
    for (const { phone } of household.handsets) await phone.session.register();
    line.quality = options.line;
    return household;
  }

  async close(): Promise<void> {
    await this.line.close();
    await this.webLine.close();
  }

  /** Everybody does what they do, at once. Ends when all had their turns. */
  async live(): Promise<void> {
    const lives = this.handsets.map((handset, index) => this.liveOne(handset, this.random.branch(`user ${index}`)));
    if (this.options.hasBrowser !== false) lives.push(this.browse());
    const ends = await Promise.allSettled(lives);
    this.isOver = true;
    this.wake();
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  }

  /** Resolves when so many more requests were answered, in the midst of others, or when all had their turns. */
  responded(count: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.waiting.set(resolve, this.server.responses.length + count);
    this.wake();
    return promise;
  }

  private wake(): void {
    for (const [resolve, wanted] of this.waiting) {
      if (!this.isOver && this.server.responses.length < wanted) continue;
      this.waiting.delete(resolve);
      resolve();
    }
  }

  /** Takes the server away and brings it back. @param swap ends one process and starts the next */
  async restart(swap: () => Promise<void>): Promise<void> {
    this.isServerUp = false;
    await swap();
    this.isServerUp = true;
  }

  /** All lines are good again, and everybody syncs until nothing moves any more. */
  async rest(): Promise<void> {
    this.line.quality = { cuts: 0, cutWithinBytes: 0 };
    for (const handset of this.handsets) handset.isOnline = true;
    for (let round = 1; round <= restRoundsMax; round++) {
      let moved = 0;
      for (const handset of this.handsets) {
        const { sent, received } = await this.syncWhatever(handset);
        moved += sent + received;
      }
      if (moved === 0) return;
    }
    throw new Error(`the phones do not come to rest within ${restRoundsMax} rounds`);
  }

  /** What is wrong in the end, in words; nothing where all is well. */
  async faults(): Promise<string[]> {
    const files = await untilHeard(() => this.web.files());
    const onServer = new Map(files.map((file) => [pathOf(file), file.checksum]));
    const faults = this.handsets.flatMap(({ phone }) => this.differences(phone, onServer));
    faults.push(...(await this.damagedFiles(files)), ...this.doubled(files), ...this.lost(files));
    for (const handset of this.handsets) {
      handset.collect();
      faults.push(...handset.phone.overdue());
      if (handset.signOutCount > 0) faults.push(`${handset.phone.name} was signed out ${handset.signOutCount} times`);
    }
    return faults;
  }

  /** Conflicts that the phones met, but for taken names: only somebody else can have caused these. */
  get conflictCount(): number {
    for (const handset of this.handsets) handset.collect();
    return this.handsets.reduce((total, one) => total + one.conflictCount, 0);
  }

  /** Names that were taken; by the same phone's other file, too, where it tells in the wrong order. */
  get nameConflictCount(): number {
    for (const handset of this.handsets) handset.collect();
    return this.handsets.reduce((total, one) => total + one.nameConflictCount, 0);
  }

  /** What to print of a run. */
  summary(): string {
    const crashes = this.handsets.reduce((total, { crashCount }) => total + crashCount, 0);
    return (
      `${this.ledger.contents.size} contents, ${crashes} crashes, ${this.conflictCount} conflicts, ` +
      `${this.nameConflictCount} taken names, ` +
      `${this.line.cutCount} cut connections`
    );
  }

  private addPhone(deviceId: string, onResponse: (response: SeenResponse) => void): void {
    const random = this.random.branch(deviceId);
    const clockSkewMs = random.between(-9, 9) * dayMs;
    const { directory } = this.options;
    const isOnDisk = directory !== undefined && this.handsets.length === 0;
    const disk = isOnDisk ? new DirectoryDisk(deviceId, directory) : new MemoryDisk(deviceId);
    const make = (kept: PhoneDisk) =>
      new Phone(kept, {
        credentials: { email: this.account.email, password: this.account.password },
        random,
        url: this.line.url,
        onResponse,
        ledger: this.ledger,
        clockSkewMs,
        crashes: this.options.crashes,
        habits: this.options.crashes === 0 ? { ...usualHabits, crash: 0 } : usualHabits,
      });
    this.handsets.push(new Handset(disk, make));
  }

  private async liveOne(handset: Handset, user: Random): Promise<void> {
    for (let turn = 0; turn < this.options.turns; turn++) {
      for (let deeds = user.between(0, 4); deeds > 0; deeds--) handset.phone.use();
      if (user.chance(0.25)) handset.isOnline = !handset.isOnline;
      if (!handset.isOnline) continue;
      try {
        if (user.chance(0.15)) await handset.phone.session.refresh();
        if (user.chance(0.03)) handset.phone.beginAnew();
        await handset.phone.sync();
      } catch (error) {
        if (!isPassing(error)) throw error;
        if (error instanceof Error && error.name === "PhoneCrashed") handset.restartApp();
        // A moment, so that not all turns pass while the server is away.
        await Bun.sleep(user.between(5, 60));
      }
    }
  }

  private async browse(): Promise<void> {
    for (let turn = 0; turn < this.options.turns * 3; turn++) {
      try {
        await this.web.use();
        await Bun.sleep(this.random.between(0, 15));
      } catch (error) {
        if (!isPassing(error)) throw error;
        await Bun.sleep(30);
      }
    }
  }

  private async syncWhatever(handset: Handset): Promise<{ sent: number; received: number }> {
    for (let tries = 0; tries < 200; tries++) {
      try {
        return await handset.phone.sync();
      } catch (error) {
        if (!isPassing(error)) throw error;
        if (error instanceof Error && error.name === "PhoneCrashed") handset.restartApp();
        await Bun.sleep(10);
      }
    }
    throw new Error(`${handset.phone.name} never gets through`);
  }

  private differences(phone: Phone, there: Map<string, string>): string[] {
    const here = phone.contents();
    const deletedAt = deletionTimes(this.server.dataDir);
    const faults: string[] = [];
    for (const [path, checksum] of there)
      if (here.get(path) !== checksum)
        faults.push(`${phone.name} ${here.has(path) ? "has other bytes at" : "lacks"} ${path}`);
    for (const file of phone.folder.files) {
      if (there.has(file.path)) continue;
      const fileId = file.fileId ?? "";
      const by = this.ledger.deletedFiles.get(fileId);
      faults.push(
        `${phone.name} has what the server has not (deleted by ${by} at ${deletedAt.get(fileId)}): ${JSON.stringify(file)}`,
      );
    }
    return faults;
  }

  private async damagedFiles(files: ListedFile[]): Promise<string[]> {
    const faults: string[] = [];
    for (const file of files) {
      const response = await untilHeard(() => this.web.call("GET", `/api/files/${file.id}/download`));
      if (response.status !== 200) faults.push(`${pathOf(file)} can't be downloaded: ${response.status}`);
      else if (checksumOf(response.bytes) !== file.checksum) faults.push(`${pathOf(file)} has other bytes than listed`);
    }
    return faults;
  }

  private doubled(files: ListedFile[]): string[] {
    const seen = new Map<string, ListedFile>();
    const faults: string[] = [];
    for (const file of files) {
      const key = `${file.folder} ${file.checksum}`;
      const other = seen.get(key);
      if (other !== undefined && !this.ledger.doubledOnPurpose.has(file.checksum))
        faults.push(`doubled: ${pathOf(file)} (${file.id}) and ${pathOf(other)} (${other.id}): ${this.origin(file)}`);
      seen.set(key, file);
    }
    return faults;
  }

  private lost(files: ListedFile[]): string[] {
    const kept = new Set([
      ...files.map(({ checksum }) => checksum),
      ...earlierContents(
        this.server.dataDir,
        files.map(({ id }) => id),
      ),
    ]);
    const deletedAt = deletionTimes(this.server.dataDir);
    const wentWithFolder = (fileId: string) => {
      const at = deletedAt.get(fileId);
      return at !== undefined && this.ledger.folderDeletions.some(({ fromMs, toMs }) => at >= fromMs && at <= toMs);
    };
    const faults: string[] = [];
    for (const [checksum, promised] of this.ledger.contents)
      if (!kept.has(checksum) && this.ledger.isOwed(promised, wentWithFolder))
        faults.push(
          `lost: ${checksum.slice(0, 20)}, ${promised.origin}, acknowledged as [${[...promised.fileIds].join()}]` +
            ` deleted at [${[...promised.fileIds].map((id) => deletedAt.get(id)).join()}]`,
        );
    return faults;
  }

  private origin(file: ListedFile): string {
    return this.ledger.contents.get(file.checksum)?.origin ?? "made by nobody";
  }
}

/**
 * A household's whole life: everybody at once, then rest, then the reckoning.
 *
 * @param meanwhile what befalls the server; ends with the household
 * @throws where anything is wrong in the end; the message names the seed
 */
export async function liveThrough(
  what: string,
  server: HouseServer,
  account: HouseAccount,
  options: HouseholdOptions,
  meanwhile: (household: Household) => Promise<void> = async () => {},
): Promise<{ conflictCount: number }> {
  const told = `${what}, LARDER_TEST_SEED=${options.seed}`;
  console.info(told);
  const household = await Household.open(server, account, options);
  try {
    const ends = await Promise.allSettled([household.live(), meanwhile(household)]);
    for (const end of ends) if (end.status === "rejected") throw end.reason;
    await household.rest();
    const faults = await household.faults();
    console.info(`${told}: ${household.summary()}`);
    if (faults.length > 0) throw new Error(faults.slice(0, 20).join("\n"));
    return { conflictCount: household.conflictCount };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`${told}: ${message}\n${notesOn(message, household.ledger)}`, { cause: error });
  } finally {
    await household.close();
  }
}

/** What was noted about the files that a message names; everything where LARDER_TEST_LOG is set. */
function notesOn(message: string, { lines }: Ledger): string {
  if (process.env["LARDER_TEST_LOG"] !== undefined) return lines.join("\n");
  const ids = message.match(/file_\w+|sha256:[0-9a-f]{13}/g) ?? [];
  const fitting = lines.filter((line) => ids.some((id) => line.includes(id)));
  return (ids.length === 0 ? lines.slice(-30) : fitting).map((line) => line.slice(0, 3000)).join("\n");
}

function pathOf({ folder, name }: ListedFile): string {
  return folder === "/" ? `/${name}` : `${folder}/${name}`;
}
