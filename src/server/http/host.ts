import type { LoadedConfig } from "../../config/load.ts";
import { BodyPaces } from "../../http/body-pace.ts";
import type { JobOutcome, JobState } from "../../jobs/scheduler.ts";
import { RequestStatistics } from "../observability/request-statistics.ts";

/** What the application asks of the process that runs it. */
export interface AppHost {
  /** The address at the other end of a request's connection. */
  peerOf(request: Request): string;
  /** Gives the connection of a request its whole idle time again. */
  keepOpen(request: Request): void;
  /** The bodies on their way to this server. */
  readonly bodies: BodyPaces;
  /** Lets a request take as long as it needs. */
  allowLong(request: Request): void;
  isDraining(): boolean;
  /** Whether more requests are under way than the server takes at once. */
  isOverloaded(): boolean;
  /** Requests that are not answered yet. */
  pendingRequests(): number;
  /** When the server's own certificate ends; undefined without TLS. */
  certificateEndsMs(): number | undefined;
  /** How the settings came about; undefined where nothing is served. */
  configuration(): LoadedConfig | undefined;
  /** What is counted of requests. */
  readonly requests: RequestStatistics;
  /** Called once the first administrator chose who will use the server. */
  onSetUp(use: "household" | "accounts"): void;
  /** Called for each request: notices what other processes changed. */
  noticeChanges(): void;
  /** The scheduled jobs and how they stand. */
  listJobs(): readonly JobState[];
  /** Runs a job now. */
  runJob(name: string): Promise<JobOutcome>;
}

/** A host for where nothing is served: making the document. */
export const NO_HOST: AppHost = {
  peerOf: () => "127.0.0.1",
  keepOpen: () => {},
  bodies: new BodyPaces({ perAddressMax: 1 }),
  allowLong: () => {},
  isDraining: () => false,
  isOverloaded: () => false,
  pendingRequests: () => 0,
  certificateEndsMs: () => undefined,
  configuration: () => undefined,
  requests: new RequestStatistics(() => []),
  onSetUp: () => {},
  noticeChanges: () => {},
  listJobs: () => [],
  runJob: async () => ({ isOk: false, text: "Nothing runs." }),
};
