// Records what every server acknowledged, and in which states each file, link and password may therefore be.
import { appendFileSync } from "node:fs";

/** A file as it should be listed; null if it should not. */
export type FileState = { readonly name: string; readonly digest: string } | null;

/** A file, and the states that it may have. One state is certain; several follow from a request without a result. */
export interface TrackedFile {
  /** The beginning of its name, unique in a run. */
  readonly key: string;
  id: string | undefined;
  states: FileState[];
  /** Digests of the earlier contents that were acknowledged, by version. */
  readonly versions: Map<number, string>;
  /** Digests of all contents that a client ever sent for it. */
  readonly sentDigests: Set<string>;
  /** Whether it changed since it was last judged. */
  isChanged: boolean;
}

export interface TrackedShare {
  readonly id: string;
  readonly token: string;
  readonly file: TrackedFile;
  /** `either`: the request to end it had no result. */
  state: "open" | "ended" | "either";
}

export interface TrackedAccount {
  readonly email: string;
  readonly token: string;
  readonly files: TrackedFile[];
  readonly shares: TrackedShare[];
  /** Passwords that may be valid: one, or two after a change without a result. */
  passwords: string[];
  /** The last password that an acknowledged change replaced. */
  formerPassword: string | undefined;
  isPasswordChanged: boolean;
  /** An app password for WebDAV. */
  appPassword: string;
}

/** A change that a server acknowledged. Times by the monotonic clock of this process. */
interface Acknowledgement {
  readonly server: string;
  readonly sentMs: number;
  readonly respondedMs: number;
}

/** What happened to a request. */
export type RequestResult =
  | { readonly kind: "acknowledged"; readonly status: number }
  /** The server rejected it; it may have taken effect nevertheless. */
  | { readonly kind: "rejected"; readonly status: number }
  /** There was no response. */
  | { readonly kind: "unanswered" };

/** A request that changes something, as the ledger records it. */
export interface RecordedRequest {
  readonly server: string;
  readonly what: string;
  readonly sentMs: number;
  readonly respondedMs: number;
  readonly result: RequestResult;
}

/** Counts of a round or a run. */
export interface LedgerCounts {
  acknowledged: number;
  unavailable: number;
  unanswered: number;
  /** Rejections other than 503. */
  rejected: number;
}

const noCounts = (): LedgerCounts => ({ acknowledged: 0, unavailable: 0, unanswered: 0, rejected: 0 });

/** The ledger of a run. */
export class FailoverLedger {
  readonly accounts: TrackedAccount[] = [];
  readonly total = noCounts();
  round = noCounts();
  /** Promises that were broken, as sentences. */
  readonly violations: string[] = [];
  /** Rejections that were no outage, as lines, for the analysis. */
  readonly rejections: string[] = [];
  private readonly reportedPairs = new Set<string>();
  private readonly acknowledgements = new Map<string, Acknowledgement[]>();

  /** @param path of a file to which every request is appended as a line of JSON; undefined for none */
  constructor(private readonly path: string | undefined) {}

  record(request: RecordedRequest): void {
    const { server, sentMs, respondedMs, result, what } = request;
    const count = result.kind === "rejected" ? (result.status === 503 ? "unavailable" : "rejected") : result.kind;
    this.total[count] += 1;
    this.round[count] += 1;
    if (count === "rejected" && result.kind === "rejected") this.rejections.push(`${server} ${what}: ${result.status}`);
    if (result.kind === "acknowledged") {
      const list = this.acknowledgements.get(server) ?? [];
      list.push({ server, sentMs, respondedMs });
      this.acknowledgements.set(server, list);
    }
    if (this.path !== undefined) appendFileSync(this.path, `${JSON.stringify(request)}\n`);
  }

  violate(sentence: string): void {
    this.violations.push(sentence);
    if (this.path !== undefined) appendFileSync(this.path, `${JSON.stringify({ violation: sentence })}\n`);
  }

  /** When this server first acknowledged a change; undefined if it did not. */
  firstAcknowledgementMs(server: string): number | undefined {
    const list = this.acknowledgements.get(server);
    return list === undefined ? undefined : Math.min(...list.map(({ respondedMs }) => respondedMs));
  }

  acknowledgedBy(server: string): number {
    return this.acknowledgements.get(server)?.length ?? 0;
  }

  /**
   * Finds changes that a server acknowledged after another one had begun to acknowledge.
   *
   * A response may arrive late, because the kernel still sends it while its server is stopped, or after a lost link is
   * repaired. Such a response is only counted. A request that was sent after the newer server's first response must
   * never be acknowledged by the older one.
   * @returns the number of late responses since the beginning
   */
  findTwoWriters(): number {
    const first = [...this.acknowledgements.keys()]
      .map((server) => ({ server, ms: this.firstAcknowledgementMs(server) ?? 0 }))
      .sort((a, b) => a.ms - b.ms);
    let late = 0;
    for (const [index, newer] of first.entries()) {
      for (const older of first.slice(0, index)) {
        const after = (this.acknowledgements.get(older.server) ?? []).filter(
          ({ respondedMs }) => respondedMs > newer.ms,
        );
        late += after.filter(({ sentMs }) => sentMs <= newer.ms).length;
        const overlapping = after.filter(({ sentMs }) => sentMs > newer.ms).length;
        if (overlapping === 0 || this.reportedPairs.has(`${older.server} ${newer.server}`)) continue;
        this.reportedPairs.add(`${older.server} ${newer.server}`);
        this.violate(
          `two writers: ${older.server} acknowledged ${overlapping} requests that were sent after ${newer.server} ` +
            `had acknowledged one`,
        );
      }
    }
    return late;
  }

  beginRound(): void {
    this.round = noCounts();
  }
}

/** Whether the states leave no doubt. */
export function isCertain(file: TrackedFile): boolean {
  return file.states.length === 1;
}

/** The only possible state. @throws Error if there is doubt */
export function certainState(file: TrackedFile): FileState {
  const [state, ...others] = file.states;
  if (state === undefined || others.length > 0) throw new Error(`the state of ${file.key} is not certain`);
  return state;
}
