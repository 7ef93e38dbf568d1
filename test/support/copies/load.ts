// Everything that people do with files, at once, by several accounts, and what was true of each file from when until when.
import { type Account, type ApiResponse, checksumOf, type Client } from "../client.ts";
import { registerDevice } from "../mobile.ts";
import { seededRandom, type SeededRandom } from "../random.ts";
import type { TestServer } from "../server.ts";
import { completeUpload, planUpload, sendChunks } from "../uploads.ts";

/** What a listing says of a file; null where it lists none. */
export type FileState = { readonly folder: string; readonly name: string; readonly checksum: string } | null;

/** One thing that happened to a file. In milliseconds since 1970. */
interface Happening {
  readonly state: FileState;
  readonly startedMs: number;
  /** When the answer was there; undefined while it is awaited. */
  acknowledgedMs: number | undefined;
}

/** A time within which a state may have been that of a file. */
export interface Interval {
  readonly fromMs: number;
  readonly untilMs: number;
}

interface Tracked {
  readonly key: string;
  readonly id: string;
  readonly happenings: Happening[];
  isInTrash: boolean;
}

const folders = ["/", "/photos", "/photos/2026", "/office"];
const filesMax = 60;
const sharedContents = 6;

/** One account's files and one worker that changes them, one after the other. */
export class LoadedAccount {
  /** Every file that ever was, by its key, which is the beginning of its name. */
  readonly histories = new Map<string, Happening[]>();
  private readonly alive: Tracked[] = [];
  private made = 0;
  done = 0;

  constructor(
    readonly account: Account,
    /** Its telephone, that sends in chunks. */
    private readonly phone: Client,
    private readonly label: string,
    private readonly random: SeededRandom,
  ) {}

  /** Does one thing; throws where the server refuses what it should not. */
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
    else await this.arriveInChunks();
    this.done += 1;
  }

  /** After a crash: what was under way was done or was not, as is seen; the work can go on from there. */
  resolvePending(seen: ReadonlyMap<string, FileState>): void {
    for (const [key, happenings] of this.histories) {
      const last = happenings.at(-1);
      if (last === undefined || last.acknowledgedMs !== undefined) continue;
      if (JSON.stringify(last.state) === JSON.stringify(seen.get(key) ?? null)) last.acknowledgedMs = Date.now();
      else happenings.pop();
    }
    for (const file of this.alive) file.isInTrash = latest(file) === null;
  }

  private get client(): Client {
    return this.account.client;
  }

  private newName(key: string): string {
    this.made += 1;
    return `${key}_${this.made}.bin`;
  }

  /** Some contents are everybody's: what one deletes another still has, or brings again. */
  private content(): Uint8Array<ArrayBuffer> {
    const { random } = this;
    if (random.chance(0.25)) return seededRandom(random.below(sharedContents)).bytes(3_000);
    return random.bytes(random.chance(0.06) ? 300_000 + random.below(600_000) : 1 + random.below(20_000));
  }

  private async create(): Promise<void> {
    const key = `${this.label}${this.histories.size}`;
    const [content, folder, name] = [this.content(), this.random.pick(folders), this.newName(key)];
    const happenings: Happening[] = [];
    this.histories.set(key, happenings);
    const response = await this.happen(happenings, { folder, name, checksum: checksumOf(content) }, () =>
      this.client.upload(content, { name, fields: { folder } }),
    );
    this.alive.push({ key, id: response.string("data.id"), happenings, isInTrash: false });
  }

  private async arriveInChunks(): Promise<void> {
    const key = `${this.label}${this.histories.size}`;
    const { phone } = this;
    const [content, name] = [this.random.bytes(5_000), this.newName(key)];
    const happenings: Happening[] = [];
    this.histories.set(key, happenings);
    const plan = await planUpload(phone, content, { name, folder: "/photos", checksum: checksumOf(content) });
    // Some never end.
    if (this.random.chance(0.2)) return sendChunks(phone, plan, content, [0, 2]);
    await sendChunks(phone, plan, content);
    const state = { folder: "/photos", name, checksum: checksumOf(content) };
    const response = await this.happen(happenings, state, () => completeUpload(phone, plan.uploadId));
    this.alive.push({ key, id: response.string("data.id"), happenings, isInTrash: false });
  }

  private async replace(file: Tracked): Promise<void> {
    const content = this.content();
    await this.change(file, { checksum: checksumOf(content) }, () => this.client.putContent(file.id, content));
  }

  private async rename(file: Tracked): Promise<void> {
    const name = this.newName(file.key);
    await this.change(file, { name }, () => this.client.put(`/api/files/${file.id}`, { name }));
  }

  private async move(file: Tracked): Promise<void> {
    const folder = this.random.pick(folders.filter((one) => one !== latest(file)?.folder));
    await this.change(file, { folder }, () =>
      this.client.post("/api/files/move", { fileIds: [file.id], destinationFolder: folder }),
    );
  }

  private async share({ id }: Tracked): Promise<void> {
    must(await this.client.post(`/api/files/${id}/shares`, {}));
  }

  private async trash(file: Tracked): Promise<void> {
    await this.happen(file.happenings, null, () => this.client.post("/api/files/trash", { fileIds: [file.id] }));
    file.isInTrash = true;
  }

  private async restore(file: Tracked): Promise<void> {
    const before = file.happenings.at(-2)?.state ?? null;
    await this.happen(file.happenings, before, () =>
      this.client.post("/api/files/trash/restore", { fileIds: [file.id] }),
    );
    file.isInTrash = false;
  }

  private async forget(file: Tracked): Promise<void> {
    this.drop(file);
    must(await this.client.delete(`/api/files/trash/${file.id}`));
  }

  private async delete(file: Tracked): Promise<void> {
    this.drop(file);
    await this.happen(file.happenings, null, () => this.client.delete(`/api/files/${file.id}`));
  }

  private drop(file: Tracked): void {
    this.alive.splice(this.alive.indexOf(file), 1);
  }

  private async change(
    file: Tracked,
    change: Partial<NonNullable<FileState>>,
    deed: () => Promise<ApiResponse>,
  ): Promise<void> {
    const before = latest(file);
    if (before === null) throw new Error(`${file.key} is not there`);
    await this.happen(file.happenings, { ...before, ...change }, deed);
  }

  private async happen(
    happenings: Happening[],
    state: FileState,
    deed: () => Promise<ApiResponse>,
  ): Promise<ApiResponse> {
    const happening: Happening = { state, startedMs: Date.now(), acknowledgedMs: undefined };
    happenings.push(happening);
    const response = must(await deed());
    happening.acknowledgedMs = Date.now();
    return response;
  }
}

function latest({ happenings }: Tracked): FileState {
  return happenings.at(-1)?.state ?? null;
}

/** The server refused what it should not; not merely gone. */
class Rejection extends Error {}

function must(response: ApiResponse): ApiResponse {
  if (response.status >= 300)
    throw new Rejection(`refused under load: ${response.status} ${response.text.slice(0, 500)}`);
  return response;
}

/** When a file may have been seen like this: each time that it was. */
export function findIntervals(happenings: readonly Happening[], seen: FileState): Interval[] {
  const text = JSON.stringify(seen);
  const all = [{ state: null, startedMs: Number.NEGATIVE_INFINITY }, ...happenings];
  return all.flatMap(({ state, startedMs }, index) => {
    if (JSON.stringify(state) !== text) return [];
    const next = happenings[index];
    return [{ fromMs: startedMs, untilMs: next?.acknowledgedMs ?? Number.POSITIVE_INFINITY }];
  });
}

/** Accounts that work until they are told to stop. */
export class MixedLoad {
  readonly accounts: readonly LoadedAccount[];
  private readonly stopping = new AbortController();
  private readonly working: Promise<void>[];

  private constructor(accounts: readonly LoadedAccount[], restMs: number) {
    this.accounts = accounts;
    this.working = accounts.map((account) => this.work(account, restMs));
    // stop(), crashed() and failure report errors: until one of them is called, a rejection must not count as unhandled.
    for (const working of this.working) working.catch(() => {});
  }

  /** @param restMs between two steps of one account */
  static async start(server: TestServer, seed: number, accountCount = 3, restMs = 15): Promise<MixedLoad> {
    const accounts = await Promise.all(
      Array.from({ length: accountCount }, async (_, index) => {
        const label = String.fromCodePoint(97 + index);
        const account = await server.signUp();
        const { client: phone } = await registerDevice(server, account);
        return new LoadedAccount(account, phone, label, seededRandom(seed * 31 + index));
      }),
    );
    return new MixedLoad(accounts, restMs);
  }

  /** Goes on with accounts that worked before. */
  static resume(accounts: readonly LoadedAccount[], restMs = 4): MixedLoad {
    return new MixedLoad(accounts, restMs);
  }

  /** How many things were done. */
  get done(): number {
    return this.accounts.reduce((sum, { done }) => sum + done, 0);
  }

  /** Rejects with the first failure of the load, should there be one. */
  get failure(): Promise<never> {
    return new Promise((_, reject) => {
      for (const working of this.working) working.catch(reject);
    });
  }

  /** Ends it. @throws what went wrong */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.working);
  }

  /** Waits until every worker has seen that the server is gone. @throws where it refused something before */
  async waitForCrash(): Promise<void> {
    for (const ended of await Promise.allSettled(this.working)) {
      if (ended.status === "rejected" && ended.reason instanceof Rejection) throw ended.reason;
    }
  }

  private async work(account: LoadedAccount, restMs: number): Promise<void> {
    while (!this.stopping.signal.aborted) {
      await account.step();
      await Bun.sleep(restMs);
    }
  }
}
