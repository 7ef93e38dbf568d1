// Clients that change files, links and passwords, and follow the server that acknowledges.
import { type ApiResponse, digestOf } from "../client.ts";
import type { SeededRandom } from "../random.ts";
import { seededRandom } from "../random.ts";
import type { ClusterNode } from "./cluster-node.ts";
import {
  certainState,
  type FailoverLedger,
  type FileState,
  isCertain,
  type RequestResult,
  type TrackedAccount,
  type TrackedFile,
} from "./ledger.ts";
import { send, sendChange, type SentRequest } from "./sender.ts";

const FIRST_PASSWORD = "correct horse battery";
const FILES_MAX = 60;
const SMALLEST_BYTES = 1024;
/** The largest file has two to this power times the smallest: 2 MiB. */
const LARGEST_POWER = 11;
/** How many bytes of random data the contents are cut from. */
const NOISE_BYTES = 4 * 1024 * 1024;
const PAUSE_MS = 150;
const ATTEMPTS_MAX = 100;

const noise = crypto.getRandomValues(new Uint8Array(NOISE_BYTES / 64));
const noiseBytes = Uint8Array.from(
  { length: NOISE_BYTES },
  (_, index) => (noise[index % noise.length] ?? 0) ^ (index >> 8),
);

/** Content that no other file has: it begins with the words. */
function makeContent(random: SeededRandom, words: string): Uint8Array<ArrayBuffer> {
  const size = Math.round(SMALLEST_BYTES * 2 ** (LARGEST_POWER * random.fraction() ** 2.5));
  const start = random.below(NOISE_BYTES - size);
  const content = noiseBytes.slice(start, start + size);
  content.set(new TextEncoder().encode(`${words}\n`).slice(0, size));
  return content;
}

/** Creates an account on a server that works. */
export async function createAccount(ledger: FailoverLedger, node: ClusterNode, number: number): Promise<void> {
  // A change that was not confirmed may have been made: each attempt has its own names.
  const signUp = (attempt: number) => {
    const json = { email: `user${number}.${attempt}@example.com`, password: FIRST_PASSWORD, name: `User ${number}` };
    return { method: "POST", path: "/api/auth/signup", json };
  };
  const created = await acknowledged(ledger, node, "sign up", signUp);
  const token = created.string("token");
  const email = created.string("user.email");
  const app = await acknowledged(ledger, node, "app password", (attempt) => ({
    method: "POST",
    path: "/api/users/app-passwords",
    authorization: `Bearer ${token}`,
    json: { name: `program ${attempt}`, currentPassword: FIRST_PASSWORD },
  }));
  ledger.accounts.push({
    email,
    token,
    files: [],
    shares: [],
    passwords: [FIRST_PASSWORD],
    formerPassword: undefined,
    isPasswordChanged: true,
    appPassword: app.string("data.password"),
  });
}

/** Sends a request until the server acknowledges it: on a busy machine, a short lease can expire for a moment. */
async function acknowledged(
  ledger: FailoverLedger,
  node: ClusterNode,
  what: string,
  requestOf: (attempt: number) => SentRequest,
): Promise<ApiResponse> {
  for (let attempt = 1; ; attempt++) {
    const { response } = await sendChange(ledger, node, what, requestOf(attempt));
    if (response !== undefined && response.status < 300) return response;
    const isTemporary = response === undefined || response.status === 503;
    if (!isTemporary || attempt === ATTEMPTS_MAX)
      throw new Error(`${what} failed: ${response?.status} ${response?.text}`);
    await Bun.sleep(PAUSE_MS);
  }
}

/** One client, which sends one request after the other. */
export class LoadWorker {
  private readonly random: SeededRandom;
  private readonly label: string;
  private count = 0;
  /** Contents of deleted files, to upload again: their objects may be removed at the same time. */
  private readonly deletedContents: Uint8Array<ArrayBuffer>[] = [];
  private readonly contents = new Map<string, Uint8Array<ArrayBuffer>>();

  /**
   * @param isStray whether it sends to all machines in turn, instead of the one that acknowledged last: this finds
   * servers that wrongly acknowledge
   */
  constructor(
    private readonly ledger: FailoverLedger,
    private readonly account: TrackedAccount,
    private readonly nodes: readonly ClusterNode[],
    private readonly isStray: boolean,
    seed: number,
  ) {
    this.random = seededRandom(seed);
    this.label = `r${seed}`;
  }

  private turn = 0;

  /** Works until the signal. */
  async work(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      const node = this.nodes[this.turn % this.nodes.length];
      if (node === undefined || !node.isRunning) {
        this.turn += 1;
        await Bun.sleep(10);
        continue;
      }
      const isAcknowledged = await this.step(node);
      if (this.isStray || !isAcknowledged) this.turn += 1;
      if (!isAcknowledged) await Bun.sleep(PAUSE_MS);
    }
  }

  /** @returns whether the server acknowledged, or responded to a read */
  private async step(node: ClusterNode): Promise<boolean> {
    const { random, account } = this;
    const known = account.files.filter(
      (file) => isCertain(file) && certainState(file) !== null && file.id !== undefined,
    );
    const file = known.length === 0 ? undefined : random.pick(known);
    const dice = random.fraction();
    if (file === undefined || (dice < 0.42 && known.length < FILES_MAX)) return this.upload(node);
    if (dice < 0.55) return this.rename(node, file);
    if (dice < 0.68) return this.replace(node, file);
    if (dice < 0.8) return this.delete(node, file);
    if (dice < 0.86) return this.share(node, file);
    if (dice < 0.9) return this.endShare(node);
    if (dice < 0.915) return this.changePassword(node);
    if (dice < 0.97) return this.read(node, file);
    return this.readForeign(node);
  }

  private async change(node: ClusterNode, what: string, request: SentRequest) {
    return sendChange(this.ledger, node, what, { authorization: `Bearer ${this.account.token}`, ...request });
  }

  private async upload(node: ClusterNode): Promise<boolean> {
    const { random, account } = this;
    const key = `${this.label}n${this.count++}`;
    const repeated = random.chance(0.2) ? this.deletedContents.shift() : undefined;
    const content = repeated ?? makeContent(random, `${key} of ${account.email}`);
    const digest = digestOf(content);
    const name = `${key}_0.bin`;
    const file: TrackedFile = {
      key,
      id: undefined,
      states: [null],
      versions: new Map(),
      sentDigests: new Set(),
      isChanged: true,
    };
    account.files.push(file);
    file.sentDigests.add(digest);
    this.contents.set(digest, content);
    if (random.chance(0.15)) {
      const authorization = `Basic ${btoa(`${account.email}:${account.appPassword}`)}`;
      const request = { method: "PUT", path: `/dav/${name}`, authorization, body: content };
      const { result } = await this.change(node, `webdav ${key}`, request);
      return this.settle(file, result, { name, digest });
    }
    const body = new FormData();
    body.append("file", new File([content], name));
    const { result, response } = await this.change(node, `upload ${key}`, {
      method: "POST",
      path: "/api/files/upload",
      body,
    });
    const isAcknowledged = this.settle(file, result, { name, digest });
    if (isAcknowledged) {
      file.id = response?.string("data.id");
      file.versions.set(1, digest);
    }
    return isAcknowledged;
  }

  private async rename(node: ClusterNode, file: TrackedFile): Promise<boolean> {
    const before = certainState(file);
    if (before === null) return false;
    const name = `${file.key}_${this.count++}.bin`;
    const { result } = await this.change(node, `rename ${file.key}`, {
      method: "PUT",
      path: `/api/files/${file.id}`,
      json: { name },
    });
    return this.settle(file, result, { ...before, name });
  }

  private async replace(node: ClusterNode, file: TrackedFile): Promise<boolean> {
    const before = certainState(file);
    if (before === null) return false;
    const content = makeContent(this.random, `${file.key} ${this.count++} of ${this.account.email}`);
    const digest = digestOf(content);
    file.sentDigests.add(digest);
    this.contents.set(digest, content);
    const { result, response } = await this.change(node, `replace ${file.key}`, {
      method: "PUT",
      path: `/api/files/${file.id}/content`,
      body: content,
      type: "application/octet-stream",
    });
    const version = response !== undefined && result.kind === "acknowledged" ? response.at("data.version") : undefined;
    if (typeof version === "number") file.versions.set(version, digest);
    return this.settle(file, result, { ...before, digest });
  }

  private async delete(node: ClusterNode, file: TrackedFile): Promise<boolean> {
    const before = certainState(file);
    const { result } = await this.change(node, `delete ${file.key}`, {
      method: "DELETE",
      path: `/api/files/${file.id}`,
    });
    const content = before === null ? undefined : this.contents.get(before.digest);
    if (content !== undefined && result.kind === "acknowledged") this.deletedContents.push(content);
    if (this.deletedContents.length > 20) this.deletedContents.shift();
    return this.settle(file, result, null);
  }

  /** Notes the state after a request: certain if it was acknowledged, else one of two. */
  private settle(file: TrackedFile, result: RequestResult, after: FileState): boolean {
    const isAcknowledged = result.kind === "acknowledged";
    file.states = isAcknowledged ? [after] : [...file.states, after];
    file.isChanged = true;
    if (isAcknowledged && after === null) {
      for (const share of this.account.shares) if (share.file === file) share.state = "either";
    }
    return isAcknowledged;
  }

  private async share(node: ClusterNode, file: TrackedFile): Promise<boolean> {
    const { result, response } = await this.change(node, `share ${file.key}`, {
      method: "POST",
      path: `/api/files/${file.id}/shares`,
      json: {},
    });
    if (result.kind !== "acknowledged" || response === undefined) return false;
    const [id, token] = [response.string("data.id"), response.string("data.token")];
    this.account.shares.push({ id, token, file, state: "open" });
    return true;
  }

  private async endShare(node: ClusterNode): Promise<boolean> {
    const open = this.account.shares.filter(({ state }) => state === "open");
    if (open.length === 0) return true;
    const share = this.random.pick(open);
    const { result } = await this.change(node, `end share ${share.id}`, {
      method: "DELETE",
      path: `/api/shares/${share.id}`,
    });
    const isAcknowledged = result.kind === "acknowledged";
    share.state = isAcknowledged ? "ended" : "either";
    return isAcknowledged;
  }

  private async changePassword(node: ClusterNode): Promise<boolean> {
    const { account } = this;
    const [currentPassword, ...others] = account.passwords;
    if (currentPassword === undefined || others.length > 0) return true;
    const newPassword = `${FIRST_PASSWORD} ${this.label} ${this.count++}`;
    const { result } = await this.change(node, `password ${account.email}`, {
      method: "PUT",
      path: "/api/users/profile",
      json: { currentPassword, newPassword },
    });
    const isAcknowledged = result.kind === "acknowledged";
    account.isPasswordChanged = true;
    account.passwords = isAcknowledged ? [newPassword] : [currentPassword, newPassword];
    if (isAcknowledged) account.formerPassword = currentPassword;
    return isAcknowledged;
  }

  /** Downloads a file. An old owner may still send an earlier content, but never that of another file. */
  private async read(node: ClusterNode, file: TrackedFile): Promise<boolean> {
    const response = await this.get(node, `/api/files/${file.id}/download`);
    if (response?.status === 200 && !file.sentDigests.has(digestOf(response.bytes)))
      this.ledger.violate(`${node.current?.name} sent for ${file.key} bytes that nobody sent for it`);
    return response !== undefined && response.status < 500;
  }

  /** Tries to download a file of another account. */
  private async readForeign(node: ClusterNode): Promise<boolean> {
    const others = this.ledger.accounts.filter((account) => account !== this.account);
    const ids = others.flatMap(({ files }) => files.slice(-5).flatMap(({ id }) => (id === undefined ? [] : [id])));
    if (ids.length === 0) return true;
    const response = await this.get(node, `/api/files/${this.random.pick(ids)}/download`);
    if (response?.status === 200)
      this.ledger.violate(`${node.current?.name} sent ${this.account.email} a file of another account`);
    return response !== undefined && response.status < 500;
  }

  private get(node: ClusterNode, path: string): Promise<ApiResponse | undefined> {
    return send(node, { method: "GET", path, authorization: `Bearer ${this.account.token}` });
  }
}

/** Workers for all accounts of a ledger. */
export class FailoverLoad {
  private readonly stopping = new AbortController();
  private readonly working: Promise<void[]>;

  /** @param strays how many of the workers send to all machines in turn */
  constructor(ledger: FailoverLedger, nodes: readonly ClusterNode[], seed: number, strays: number) {
    const workers = ledger.accounts.map(
      (account, index) => new LoadWorker(ledger, account, nodes, index < strays, seed * 100 + index),
    );
    this.working = Promise.all(workers.map((worker) => worker.work(this.stopping.signal)));
  }

  /** Rejects with the first failure of a worker. */
  get failure(): Promise<unknown> {
    return this.working;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.working;
  }
}
