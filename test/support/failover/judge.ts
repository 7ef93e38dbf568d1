// Compares a server with the ledger: everything acknowledged must be there, and nothing else that was not sent.
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { ApiResponse, digestOf } from "../client.ts";
import type { SeededRandom } from "../random.ts";
import type { ClusterNode } from "./cluster-node.ts";
import { type FailoverLedger, isCertain, type TrackedAccount, type TrackedFile, type TrackedShare } from "./ledger.ts";
import { send, type SentRequest } from "./sender.ts";

const CONCURRENCY = 8;
/** How many unchanged files and links of an account are read again, at random. */
const SAMPLE = 8;
/** How often a former password is tried: the limiter counts it as a guess. */
const FORMER_SHARE = 0.25;
const RETRY_MS_MAX = 30_000;
const RETRY_PAUSE_MS = 200;

interface ListedFile {
  readonly id: string;
  readonly name: string;
  readonly digest: string;
}

/** What a judgment looked at. */
export interface Judgment {
  files: number;
  /** Files whose bytes were downloaded and compared. */
  read: number;
  /** Changes without a result that took effect. */
  presentUnacknowledged: number;
}

/** Judges one server. */
export class Judge {
  private readonly judgment: Judgment = { files: 0, read: 0, presentUnacknowledged: 0 };

  constructor(
    private readonly ledger: FailoverLedger,
    private readonly node: ClusterNode,
    private readonly random: SeededRandom,
    /** Whether all bytes are read, instead of those that changed and some others. */
    private readonly isComplete: boolean,
  ) {}

  /** Reports what is wrong to the ledger. */
  async judge(): Promise<Judgment> {
    for (const account of this.ledger.accounts) await this.judgeAccount(account);
    this.checkDatabase();
    return this.judgment;
  }

  private async judgeAccount(account: TrackedAccount): Promise<void> {
    const session = await this.get(account, "/api/auth/session");
    if (session.status !== 200) this.fail(`the session of ${account.email} is gone: ${session.status}`);
    const listed = await this.list(account);
    const tasks: (() => Promise<void>)[] = [];
    for (const file of account.files) tasks.push(...this.compareState(account, file, listed.get(file.key) ?? []));
    const known = new Set(account.files.map(({ key }) => key));
    for (const key of listed.keys()) if (!known.has(key)) this.fail(`nobody uploaded ${key} of ${account.email}`);
    for (const share of this.sample(account.shares, () => false)) tasks.push(() => this.checkShare(share));
    if (account.isPasswordChanged || this.isComplete) tasks.push(() => this.checkPasswords(account));
    account.isPasswordChanged = false;
    await inParallel(tasks);
  }

  /** Compares the listed state. @returns what else is to be checked of this file */
  private compareState(
    account: TrackedAccount,
    file: TrackedFile,
    found: readonly ListedFile[],
  ): (() => Promise<void>)[] {
    const [listed, ...others] = found;
    if (others.length > 0) this.fail(`${file.key} is listed twice`);
    const seen = listed === undefined ? null : { name: listed.name, digest: listed.digest };
    const index = file.states.findIndex((state) => state?.name === seen?.name && state?.digest === seen?.digest);
    if (index === -1)
      this.fail(
        `${file.key} is ${JSON.stringify(seen)} instead of ${file.states.map((state) => JSON.stringify(state)).join(" or ")}`,
      );
    if (index > 0) this.judgment.presentUnacknowledged += 1;
    if (listed !== undefined) {
      this.judgment.files += 1;
      file.id ??= listed.id;
      if (file.id !== listed.id) this.fail(`${file.key} has another id`);
    }
    const isToRead = file.isChanged || this.isComplete || this.random.chance(SAMPLE / (account.files.length + 1));
    file.isChanged = false;
    const { id } = file;
    if (!isToRead || id === undefined) return [];
    if (listed === undefined) return isCertain(file) ? [() => this.checkGone(account, file, id)] : [];
    return [() => this.checkBytes(account, file, listed), () => this.checkVersions(account, file, id)];
  }

  private async checkGone(account: TrackedAccount, file: TrackedFile, id: string): Promise<void> {
    const response = await this.get(account, `/api/files/${id}`);
    if (response.status !== 404) this.fail(`the deleted ${file.key} responds with ${response.status}`);
  }

  private async checkBytes(account: TrackedAccount, file: TrackedFile, listed: ListedFile): Promise<void> {
    const response = await this.get(account, `/api/files/${listed.id}/download`);
    this.judgment.read += 1;
    if (response.status !== 200)
      this.fail(`${file.key} can't be read: ${response.status} ${response.text.slice(0, 300)}`);
    else if (digestOf(response.bytes) !== listed.digest)
      this.fail(`${file.key} has other bytes than it is listed with`);
  }

  private async checkVersions(account: TrackedAccount, file: TrackedFile, id: string): Promise<void> {
    if (file.versions.size < 2) return;
    const response = await this.get(account, `/api/files/${id}/versions`);
    const versions = response.status === 200 ? response.list("data.versions") : [];
    for (const [number, digest] of file.versions) {
      const isListed = versions.some(
        (one) =>
          typeof one === "object" &&
          one !== null &&
          Reflect.get(one, "version") === number &&
          Reflect.get(one, "checksum") === `sha256:${digest}`,
      );
      if (!isListed) this.fail(`version ${number} of ${file.key} is missing`);
    }
    const [number, digest] = this.random.pick([...file.versions]);
    const old = await this.get(account, `/api/files/${id}/versions/${number}/download`);
    if (old.status !== 200 || digestOf(old.bytes) !== digest)
      this.fail(`version ${number} of ${file.key} can't be read: ${old.status}`);
  }

  private async checkShare(share: TrackedShare): Promise<void> {
    const response = await this.request({ method: "GET", path: `/s/${share.token}/download` });
    const isOpen = response.status === 200;
    if (share.state === "open" && !isOpen && isCertain(share.file) && share.file.states[0] !== null)
      this.fail(`the link ${share.id} to ${share.file.key} is gone: ${response.status}`);
    if (share.state === "ended" && isOpen) this.fail(`the ended link ${share.id} to ${share.file.key} is open`);
    if (isOpen && !share.file.sentDigests.has(digestOf(response.bytes)))
      this.fail(`the link ${share.id} to ${share.file.key} shows bytes that nobody sent for it`);
  }

  private async checkPasswords({ email, passwords, formerPassword }: TrackedAccount): Promise<void> {
    const signIn = async (password: string) => {
      const request = { method: "POST", path: "/api/auth/signin", json: { email, password } };
      return (await this.request(request)).status;
    };
    const statuses = await Promise.all(passwords.map(signIn));
    // Too many wrong passwords: the limiter gives no answer to the question.
    if (!statuses.includes(200) && !statuses.includes(429))
      this.fail(`no password of ${email} is valid: ${statuses.join(", ")}`);
    if (formerPassword !== undefined && this.random.chance(FORMER_SHARE) && (await signIn(formerPassword)) === 200)
      this.fail(`the former password of ${email} is valid again`);
  }

  private async list(account: TrackedAccount): Promise<Map<string, ListedFile[]>> {
    const found = new Map<string, ListedFile[]>();
    for (let page = 1; ; page++) {
      const path = `/api/files?recursive=true&type=file&limit=100&page=${page}`;
      const response = await this.get(account, path);
      if (response.status !== 200) {
        this.fail(`the files of ${account.email} can't be listed: ${response.status} ${response.text.slice(0, 300)}`);
        return found;
      }
      const [ids, names] = [response.strings("data.files", "id"), response.strings("data.files", "name")];
      for (const [index, checksum] of response.strings("data.files", "checksum").entries()) {
        const name = names[index] ?? "";
        const key = name.slice(0, name.lastIndexOf("_"));
        const listed = { id: ids[index] ?? "", name, digest: checksum.replace("sha256:", "") };
        found.set(key, [...(found.get(key) ?? []), listed]);
      }
      if (response.at("data.pagination.hasNext") !== true) return found;
    }
  }

  /** The items that must be checked, and some others. */
  private sample<T>(items: readonly T[], isRequired: (item: T) => boolean): T[] {
    const share = SAMPLE / (items.length + 1);
    return items.filter((item) => this.isComplete || isRequired(item) || this.random.chance(share));
  }

  /** Checks the structure of the database and its references. */
  private checkDatabase(): void {
    const db = new Database(join(this.node.dataDir, "larder.db"), { readonly: true });
    try {
      const problems = db.query("PRAGMA integrity_check").values().flat();
      if (problems.join() !== "ok") this.fail(`the database is damaged: ${problems.slice(0, 3).join("; ")}`);
      const dangling = db.query("PRAGMA foreign_key_check").values();
      if (dangling.length > 0) this.fail(`the database has ${dangling.length} dangling references`);
    } finally {
      db.close();
    }
  }

  private get(account: TrackedAccount, path: string): Promise<ApiResponse> {
    return this.request({ method: "GET", path, authorization: `Bearer ${account.token}` });
  }

  /** Repeats a request while the server is briefly unavailable. */
  private async request(request: SentRequest): Promise<ApiResponse> {
    const endMs = performance.now() + RETRY_MS_MAX;
    for (;;) {
      const response = await send(this.node, request);
      if (response !== undefined && response.status !== 503) return response;
      if (performance.now() > endMs) return response ?? new ApiResponse(0, new Headers(), new Uint8Array());
      await Bun.sleep(RETRY_PAUSE_MS);
    }
  }

  private fail(sentence: string): void {
    this.ledger.violate(`${this.node.current?.name}: ${sentence}`);
  }
}

async function inParallel(tasks: readonly (() => Promise<void>)[]): Promise<void> {
  const waiting = [...tasks];
  const work = async () => {
    for (let task = waiting.pop(); task !== undefined; task = waiting.pop()) await task();
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
}
