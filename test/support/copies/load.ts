// A load of many file operations by several accounts at once. Records the states of each file and when it had them.
import { type Account, type ApiResponse, checksumOf, type Client } from "../client.ts";
import { registerDevice } from "../mobile.ts";
import { seededRandom, type SeededRandom } from "../random.ts";
import type { TestServer } from "../server.ts";
import { completeUpload, planUpload, sendChunks } from "../uploads.ts";

/** A file in a listing; null if it is not listed. */
export type FileState = { readonly folder: string; readonly name: string; readonly checksum: string } | null;

/** One change of a file. Times in milliseconds since 1970. */
export interface FileChange {
  readonly state: FileState;
  readonly startedMs: number;
  /** When the response arrived; undefined until then. */
  acknowledgedMs: number | undefined;
}

/** A period in which a file may have had a state. */
export interface Interval {
  readonly fromMs: number;
  readonly untilMs: number;
}

interface TrackedFile {
  readonly key: string;
  readonly id: string;
  readonly changes: FileChange[];
  isInTrash: boolean;
}

const folders = ["/", "/photos", "/photos/2026", "/office"];
const filesMax = 60;
const sharedContentCount = 6;

/** The files of one account, and one worker that changes them one after the other. */
export class LoadedAccount {
  /** The history of every file, deleted ones included, by its key: the beginning of its name. */
  readonly histories = new Map<string, FileChange[]>();
  private readonly alive: TrackedFile[] = [];
  private nameCount = 0;
  done = 0;

  constructor(
    readonly account: Account,
    /** The account's phone, which uploads in chunks. */
    private readonly phone: Client,
    private readonly label: string,
    private readonly random: SeededRandom,
  ) {}

  /** Performs one random operation. @throws Error if the server wrongly rejects it */
  async step(): Promise<void> {
    const { random, alive } = this;
    const file = alive.length > 0 ? random.pick(alive) : undefined;
    const dice = random.fraction();
    if (file === undefined || (dice < 0.3 && alive.length < filesMax)) await this.create();
    else if (file.isInTrash) await (dice < 0.6 ? this.restore(file) : this.forget(file));
    else if (dice < 0.45) await this.replace(file);
    else if (dice < 0.55) await this.rename(file);
    else if (dice < 0.65) await this.move(file);
    else if (dice < 0.75) await this.trash(file);
    else if (dice < 0.8) await this.share(file);
    else if (alive.length > filesMax / 2) await this.delete(file);
    else await this.uploadInChunks();
    this.done += 1;
  }

  /**
   * After a crash, decides from the observed state whether the last change took effect, so that the work can continue.
   */
  resolvePending(seen: ReadonlyMap<string, FileState>): void {
    for (const [key, changes] of this.histories) {
      const last = changes.at(-1);
      if (last === undefined || last.acknowledgedMs !== undefined) continue;
      if (JSON.stringify(last.state) === JSON.stringify(seen.get(key) ?? null)) last.acknowledgedMs = Date.now();
      else changes.pop();
    }
    for (const file of this.alive) file.isInTrash = latest(file) === null;
  }

  private get client(): Client {
    return this.account.client;
  }

  private newName(key: string): string {
    this.nameCount += 1;
    return `${key}_${this.nameCount}.bin`;
  }

  /** Some contents are shared by all accounts: one deletes what another still has or uploads again. */
  private content(): Uint8Array<ArrayBuffer> {
    const { random } = this;
    if (random.chance(0.25)) return seededRandom(random.below(sharedContentCount)).bytes(3_000);
    return random.bytes(random.chance(0.06) ? 300_000 + random.below(600_000) : 1 + random.below(20_000));
  }

  private async create(): Promise<void> {
    const key = `${this.label}${this.histories.size}`;
    const [content, folder, name] = [this.content(), this.random.pick(folders), this.newName(key)];
    const changes: FileChange[] = [];
    this.histories.set(key, changes);
    const response = await this.record(changes, { folder, name, checksum: checksumOf(content) }, () =>
      this.client.upload(content, { name, fields: { folder } }),
    );
    this.alive.push({ key, id: response.string("data.id"), changes, isInTrash: false });
  }

  private async uploadInChunks(): Promise<void> {
    const key = `${this.label}${this.histories.size}`;
    const { phone } = this;
    const [content, name] = [this.random.bytes(5_000), this.newName(key)];
    const changes: FileChange[] = [];
    this.histories.set(key, changes);
    const plan = await planUpload(phone, content, { name, folder: "/photos", checksum: checksumOf(content) });
    // Some uploads are never completed.
    if (this.random.chance(0.2)) return sendChunks(phone, plan, content, [0, 2]);
    await sendChunks(phone, plan, content);
    const state = { folder: "/photos", name, checksum: checksumOf(content) };
    const response = await this.record(changes, state, () => completeUpload(phone, plan.uploadId));
    this.alive.push({ key, id: response.string("data.id"), changes, isInTrash: false });
  }

  private async replace(file: TrackedFile): Promise<void> {
    const content = this.content();
    await this.change(file, { checksum: checksumOf(content) }, () => this.client.putContent(file.id, content));
  }

  private async rename(file: TrackedFile): Promise<void> {
    const name = this.newName(file.key);
    await this.change(file, { name }, () => this.client.put(`/api/files/${file.id}`, { name }));
  }

  private async move(file: TrackedFile): Promise<void> {
    const folder = this.random.pick(folders.filter((one) => one !== latest(file)?.folder));
    await this.change(file, { folder }, () =>
      this.client.post("/api/files/move", { fileIds: [file.id], destinationFolder: folder }),
    );
  }

  private async share({ id }: TrackedFile): Promise<void> {
    must(await this.client.post(`/api/files/${id}/shares`, {}));
  }

  private async trash(file: TrackedFile): Promise<void> {
    await this.record(file.changes, null, () => this.client.post("/api/files/trash", { fileIds: [file.id] }));
    file.isInTrash = true;
  }

  private async restore(file: TrackedFile): Promise<void> {
    const before = file.changes.at(-2)?.state ?? null;
    await this.record(file.changes, before, () => this.client.post("/api/files/trash/restore", { fileIds: [file.id] }));
    file.isInTrash = false;
  }

  private async forget(file: TrackedFile): Promise<void> {
    this.drop(file);
    must(await this.client.delete(`/api/files/trash/${file.id}`));
  }

  private async delete(file: TrackedFile): Promise<void> {
    this.drop(file);
    await this.record(file.changes, null, () => this.client.delete(`/api/files/${file.id}`));
  }

  private drop(file: TrackedFile): void {
    this.alive.splice(this.alive.indexOf(file), 1);
  }

  private async change(
    file: TrackedFile,
    change: Partial<NonNullable<FileState>>,
    send: () => Promise<ApiResponse>,
  ): Promise<void> {
    const before = latest(file);
    if (before === null) throw new Error(`${file.key} does not exist`);
    await this.record(file.changes, { ...before, ...change }, send);
  }

  private async record(
    changes: FileChange[],
    state: FileState,
    send: () => Promise<ApiResponse>,
  ): Promise<ApiResponse> {
    const fileChange: FileChange = { state, startedMs: Date.now(), acknowledgedMs: undefined };
    changes.push(fileChange);
    const response = must(await send());
    fileChange.acknowledgedMs = Date.now();
    return response;
  }
}

function latest({ changes }: TrackedFile): FileState {
  return changes.at(-1)?.state ?? null;
}

/** The server rejected a valid request. A dead server is another error. */
class Rejection extends Error {}

function must(response: ApiResponse): ApiResponse {
  if (response.status >= 300)
    throw new Rejection(`rejected under load: ${response.status} ${response.text.slice(0, 500)}`);
  return response;
}

/** Finds the periods in which a file may have been in this state. */
export function findIntervals(changes: readonly FileChange[], seen: FileState): Interval[] {
  const text = JSON.stringify(seen);
  const all = [{ state: null, startedMs: Number.NEGATIVE_INFINITY }, ...changes];
  return all.flatMap(({ state, startedMs }, index) => {
    if (JSON.stringify(state) !== text) return [];
    const next = changes[index];
    return [{ fromMs: startedMs, untilMs: next?.acknowledgedMs ?? Number.POSITIVE_INFINITY }];
  });
}

/** Accounts whose workers run until `stop`. */
export class MixedLoad {
  readonly accounts: readonly LoadedAccount[];
  private readonly stopping = new AbortController();
  private readonly working: Promise<void>[];

  private constructor(accounts: readonly LoadedAccount[], pauseMs: number) {
    this.accounts = accounts;
    this.working = accounts.map((account) => this.work(account, pauseMs));
    // stop(), waitForCrash() and failure report errors. Until one of them is called, a rejection must not count as
    // unhandled.
    for (const working of this.working) working.catch(() => {});
  }

  /** Creates accounts and starts their workers. @param pauseMs pause between two operations of an account */
  static async start(server: TestServer, seed: number, accountCount = 3, pauseMs = 15): Promise<MixedLoad> {
    const accounts = await Promise.all(
      Array.from({ length: accountCount }, async (_, index) => {
        const label = String.fromCodePoint(97 + index);
        const account = await server.signUp();
        const { client: phone } = await registerDevice(server, account);
        return new LoadedAccount(account, phone, label, seededRandom(seed * 31 + index));
      }),
    );
    return new MixedLoad(accounts, pauseMs);
  }

  /** Continues with accounts of an earlier load. */
  static resume(accounts: readonly LoadedAccount[], pauseMs = 4): MixedLoad {
    return new MixedLoad(accounts, pauseMs);
  }

  /** The number of completed operations. */
  get done(): number {
    return this.accounts.reduce((sum, { done }) => sum + done, 0);
  }

  /** Rejects with the first failure of the load, if there is one. */
  get failure(): Promise<never> {
    return new Promise((_, reject) => {
      for (const working of this.working) working.catch(reject);
    });
  }

  /** Stops the workers. @throws the first failure */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.working);
  }

  /**
   * Waits until every worker notices that the server has crashed.
   * @throws Error if the server wrongly rejected a request
   */
  async waitForCrash(): Promise<void> {
    for (const ended of await Promise.allSettled(this.working)) {
      if (ended.status === "rejected" && ended.reason instanceof Rejection) throw ended.reason;
    }
  }

  private async work(account: LoadedAccount, pauseMs: number): Promise<void> {
    while (!this.stopping.signal.aborted) {
      await account.step();
      await Bun.sleep(pauseMs);
    }
  }
}
