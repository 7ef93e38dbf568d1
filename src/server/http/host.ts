import type { WriteFence } from "../../features/storage/replication/types.ts";
import { BodyPaces } from "../../http/body-pace.ts";
import type { JobOutcome } from "../../jobs/job-requests.ts";
import type { JobState } from "../../jobs/scheduler.ts";
import { RequestStatistics } from "../observability/request-statistics.ts";

/** What the application needs from the running server. */
export interface AppHost {
  /** Decides when changes are confirmed; undefined without a replica. */
  readonly fence: WriteFence | undefined;
  /** The address of the client's end of the connection. */
  peerOf(request: Request): string;
  /** Restarts the idle timeout of a request's connection. */
  keepOpen(request: Request): void;
  /** The request bodies that are being received. */
  readonly bodies: BodyPaces;
  /** Turns the idle timeout off for a request. */
  allowLong(request: Request): void;
  isDraining(): boolean;
  /** Whether the server restarts soon. Until then, it handles requests, but /health/ready responds 503. */
  isRestarting(): boolean;
  /** Whether too many requests are in progress. */
  isOverloaded(): boolean;
  /** The number of requests in progress. */
  pendingRequests(): number;
  /** When the server's own certificate expires; undefined without TLS. */
  certificateEndsMs(): number | undefined;
  /** The statistics of requests. */
  readonly requests: RequestStatistics;
  /** Called when the first administrator has chosen who will use the server. @returns whether the server restarts */
  onSetUp(use: "household" | "accounts"): boolean;
  /** Called for each request: notices changes by other processes. */
  noticeChanges(): void;
  /** The scheduled jobs with their state. */
  listJobs(): readonly JobState[];
  /** Runs a job now. */
  runJob(name: string): Promise<JobOutcome>;
}

/** A host without a server, for generating the OpenAPI document. */
export const NO_HOST: AppHost = {
  fence: undefined,
  peerOf: () => "127.0.0.1",
  keepOpen: () => {},
  bodies: new BodyPaces({ perAddressMax: 1 }),
  allowLong: () => {},
  isDraining: () => false,
  isRestarting: () => false,
  isOverloaded: () => false,
  pendingRequests: () => 0,
  certificateEndsMs: () => undefined,
  requests: new RequestStatistics(() => []),
  onSetUp: () => false,
  noticeChanges: () => {},
  listJobs: () => [],
  runJob: async () => ({ isOk: false, text: "Nothing runs." }),
};
