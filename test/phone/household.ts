// Several phones and a browser use one account at the same time; in the end, all must be equal and nothing lost.
import { DirectoryDisk, MemoryDisk, type PhoneDisk } from "./disk.ts";
import { BadLine, type LineQuality } from "./bad-line.ts";
import { type SeenResponse, checksumOf } from "./http.ts";
import { Ledger } from "./ledger.ts";
import { Phone } from "./phone.ts";
import { Random } from "./random.ts";
import { type Credentials, isTemporary, retryWhileDown } from "./session.ts";
import { earlierContents, deletionTimes } from "./store.ts";
import { defaultHabits } from "./uploader.ts";
import { type ListedFile, WebClient } from "./web-client.ts";

/** The server under test. */
interface HouseServer {
  readonly port: number;
  readonly dataDir: string;
  readonly responses: SeenResponse[];
}

/** An account with a browser session. */
interface HouseAccount extends Credentials {
  token: string;
}

/** Options of {@link Household}. */
interface HouseholdOptions {
  seed: number;
  phones: number;
  /** How often each phone acts. */
  turns: number;
  line: LineQuality;
  /** Share of steps after which the app of a phone crashes. */
  crashes: number;
  /** The directory of the first phone; without it, and for all others, the disk is in memory. */
  directory?: string;
  hasBrowser?: boolean;
}

const dayMs = 86_400_000;
const roundsMax = 25;

/** A phone whose app crashes and is started again. */
class Handset {
  phone: Phone;
  isOnline = true;
  crashCount = 0;
  signOutCount = 0;
  conflictCount = 0;
  nameConflictCount = 0;

  constructor(
    readonly disk: PhoneDisk,
    private readonly startApp: (disk: PhoneDisk) => Phone,
  ) {
    this.phone = startApp(disk);
  }

  /** Starts the app again with its saved state. */
  restartApp(): void {
    this.crashCount += 1;
    this.collect();
    this.disk.reopen();
    this.phone = this.startApp(this.disk);
  }

  /** Adds the counts of the app to those of the phone. */
  collect(): void {
    this.signOutCount += this.phone.session.signOutCount;
    this.conflictCount += this.phone.conflictCount;
    this.nameConflictCount += this.phone.nameConflictCount;
    this.phone.session.signOutCount = 0;
    this.phone.conflictCount = 0;
    this.phone.nameConflictCount = 0;
  }
}

/** Phones and a browser, their lines, and a ledger of what the server acknowledged. */
export class Household {
  readonly ledger = new Ledger();
  readonly handsets: Handset[] = [];
  readonly web: WebClient;
  private readonly random: Random;
  private isServerUp = true;
  /** Whether all have finished. */
  isFinished = false;
  /** Callbacks of {@link responded}, with the number of responses that they wait for. */
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

  /** Opens the lines and registers the phones while the lines are good. */
  static async open(server: HouseServer, account: HouseAccount, options: HouseholdOptions): Promise<Household> {
    // While the server is stopped, another process may use its port.
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

  /** Runs all phones and the browser at the same time, until all have finished. */
  async run(): Promise<void> {
    const runs = this.handsets.map((handset, index) => this.usePhone(handset, this.random.branch(`user ${index}`)));
    if (this.options.hasBrowser !== false) runs.push(this.browse());
    const ends = await Promise.allSettled(runs);
    this.isFinished = true;
    this.wake();
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  }

  /** Resolves after this many further responses, or when all have finished. */
  responded(count: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.waiting.set(resolve, this.server.responses.length + count);
    this.wake();
    return promise;
  }

  private wake(): void {
    for (const [resolve, total] of this.waiting) {
      if (!this.isFinished && this.server.responses.length < total) continue;
      this.waiting.delete(resolve);
      resolve();
    }
  }

  /** Takes the lines to the server down during a restart. @param restartServer stops the server and starts it again */
  async restart(restartServer: () => Promise<void>): Promise<void> {
    this.isServerUp = false;
    await restartServer();
    this.isServerUp = true;
  }

  /** Repairs all lines and syncs all phones until nothing changes. */
  async waitUntilIdle(): Promise<void> {
    this.line.quality = { cuts: 0, cutWithinBytes: 0 };
    for (const handset of this.handsets) handset.isOnline = true;
    for (let round = 1; round <= roundsMax; round++) {
      let moved = 0;
      for (const handset of this.handsets) {
        const { sent, received } = await this.syncWithRetries(handset);
        moved += sent + received;
      }
      if (moved === 0) return;
    }
    throw new Error(`the phones still exchange changes after ${roundsMax} rounds`);
  }

  /** Describes what is wrong in the end; empty if nothing is. */
  async faults(): Promise<string[]> {
    const files = await retryWhileDown(() => this.web.files());
    const onServer = new Map(files.map((file) => [pathOf(file), file.checksum]));
    const faults = this.handsets.flatMap(({ phone }) => this.differences(phone, onServer));
    faults.push(...(await this.damagedFiles(files)), ...this.duplicates(files), ...this.lost(files));
    for (const handset of this.handsets) {
      handset.collect();
      faults.push(...handset.phone.overdue());
      if (handset.signOutCount > 0) faults.push(`${handset.phone.name} was signed out ${handset.signOutCount} times`);
    }
    return faults;
  }

  /** The number of conflicts of the phones, except those of taken names. Only changes by others can cause them. */
  get conflictCount(): number {
    for (const handset of this.handsets) handset.collect();
    return this.handsets.reduce((total, one) => total + one.conflictCount, 0);
  }

  /** The number of conflicts of taken names. A phone that sends its changes in the wrong order can cause them alone. */
  get nameConflictCount(): number {
    for (const handset of this.handsets) handset.collect();
    return this.handsets.reduce((total, one) => total + one.nameConflictCount, 0);
  }

  /** A summary of the run for the log. */
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
    const storage = isOnDisk ? new DirectoryDisk(deviceId, directory) : new MemoryDisk(deviceId);
    const startApp = (disk: PhoneDisk) =>
      new Phone(disk, {
        credentials: { email: this.account.email, password: this.account.password },
        random,
        url: this.line.url,
        onResponse,
        ledger: this.ledger,
        clockSkewMs,
        crashes: this.options.crashes,
        habits: this.options.crashes === 0 ? { ...defaultHabits, crash: 0 } : defaultHabits,
      });
    this.handsets.push(new Handset(storage, startApp));
  }

  private async usePhone(handset: Handset, user: Random): Promise<void> {
    for (let turn = 0; turn < this.options.turns; turn++) {
      for (let actions = user.between(0, 4); actions > 0; actions--) handset.phone.use();
      if (user.chance(0.25)) handset.isOnline = !handset.isOnline;
      if (!handset.isOnline) continue;
      try {
        if (user.chance(0.15)) await handset.phone.session.refresh();
        if (user.chance(0.03)) handset.phone.resetSync();
        await handset.phone.sync();
      } catch (error) {
        if (!isTemporary(error)) throw error;
        if (error instanceof Error && error.name === "PhoneCrashed") handset.restartApp();
        // A pause, so that not all turns pass while the server is stopped.
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
        if (!isTemporary(error)) throw error;
        await Bun.sleep(30);
      }
    }
  }

  private async syncWithRetries(handset: Handset): Promise<{ sent: number; received: number }> {
    for (let tries = 0; tries < 200; tries++) {
      try {
        return await handset.phone.sync();
      } catch (error) {
        if (!isTemporary(error)) throw error;
        if (error instanceof Error && error.name === "PhoneCrashed") handset.restartApp();
        await Bun.sleep(10);
      }
    }
    throw new Error(`${handset.phone.name} cannot sync`);
  }

  private differences(phone: Phone, onServer: Map<string, string>): string[] {
    const onPhone = phone.contents();
    const deletedAt = deletionTimes(this.server.dataDir);
    const faults: string[] = [];
    for (const [path, checksum] of onServer)
      if (onPhone.get(path) !== checksum)
        faults.push(`${phone.name} ${onPhone.has(path) ? "has other bytes at" : "lacks"} ${path}`);
    for (const file of phone.folder.files) {
      if (onServer.has(file.path)) continue;
      const fileId = file.fileId ?? "";
      const by = this.ledger.deletedFiles.get(fileId);
      faults.push(
        `${phone.name} has a file that the server does not have (deleted by ${by} at ${deletedAt.get(fileId)}): ${JSON.stringify(file)}`,
      );
    }
    return faults;
  }

  private async damagedFiles(files: ListedFile[]): Promise<string[]> {
    const faults: string[] = [];
    for (const file of files) {
      const response = await retryWhileDown(() => this.web.call("GET", `/api/files/${file.id}/download`));
      if (response.status !== 200) faults.push(`${pathOf(file)} can't be downloaded: ${response.status}`);
      else if (checksumOf(response.bytes) !== file.checksum) faults.push(`${pathOf(file)} has other bytes than listed`);
    }
    return faults;
  }

  private duplicates(files: ListedFile[]): string[] {
    const seen = new Map<string, ListedFile>();
    const faults: string[] = [];
    for (const file of files) {
      const key = `${file.folder} ${file.checksum}`;
      const other = seen.get(key);
      if (other !== undefined && !this.ledger.intendedDuplicates.has(file.checksum))
        faults.push(`duplicate: ${pathOf(file)} (${file.id}) and ${pathOf(other)} (${other.id}): ${this.origin(file)}`);
      seen.set(key, file);
    }
    return faults;
  }

  private lost(files: ListedFile[]): string[] {
    const stored = new Set([
      ...files.map(({ checksum }) => checksum),
      ...earlierContents(
        this.server.dataDir,
        files.map(({ id }) => id),
      ),
    ]);
    const deletedAt = deletionTimes(this.server.dataDir);
    const wasDeletedWithFolder = (fileId: string) => {
      const at = deletedAt.get(fileId);
      return at !== undefined && this.ledger.folderDeletions.some(({ fromMs, toMs }) => at >= fromMs && at <= toMs);
    };
    const faults: string[] = [];
    for (const [checksum, content] of this.ledger.contents)
      if (!stored.has(checksum) && this.ledger.mustExist(content, wasDeletedWithFolder))
        faults.push(
          `lost: ${checksum.slice(0, 20)}, ${content.origin}, acknowledged as [${[...content.fileIds].join()}]` +
            ` deleted at [${[...content.fileIds].map((id) => deletedAt.get(id)).join()}]`,
        );
    return faults;
  }

  private origin(file: ListedFile): string {
    return this.ledger.contents.get(file.checksum)?.origin ?? "created by nobody";
  }
}

/**
 * Runs a household: all phones and the browser at the same time, then syncs until nothing changes, then checks the
 * result.
 *
 * @param disturb runs at the same time as the household, for example restarts the server
 * @throws if anything is wrong in the end; the message names the seed
 */
export async function runHousehold(
  what: string,
  server: HouseServer,
  account: HouseAccount,
  options: HouseholdOptions,
  disturb: (household: Household) => Promise<void> = async () => {},
): Promise<{ conflictCount: number }> {
  const label = `${what}, LARDER_TEST_SEED=${options.seed}`;
  console.info(label);
  const household = await Household.open(server, account, options);
  try {
    const ends = await Promise.allSettled([household.run(), disturb(household)]);
    for (const end of ends) if (end.status === "rejected") throw end.reason;
    await household.waitUntilIdle();
    const faults = await household.faults();
    console.info(`${label}: ${household.summary()}`);
    if (faults.length > 0) throw new Error(faults.slice(0, 20).join("\n"));
    return { conflictCount: household.conflictCount };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`${label}: ${message}\n${logAbout(message, household.ledger)}`, { cause: error });
  } finally {
    await household.close();
  }
}

/** The log lines about the files that a message names; all lines if LARDER_TEST_LOG is set. */
function logAbout(message: string, { lines }: Ledger): string {
  if (process.env["LARDER_TEST_LOG"] !== undefined) return lines.join("\n");
  const ids = message.match(/file_\w+|sha256:[0-9a-f]{13}/g) ?? [];
  const fitting = lines.filter((line) => ids.some((id) => line.includes(id)));
  return (ids.length === 0 ? lines.slice(-30) : fitting).map((line) => line.slice(0, 3000)).join("\n");
}

function pathOf({ folder, name }: ListedFile): string {
  return folder === "/" ? `/${name}` : `${folder}/${name}`;
}
