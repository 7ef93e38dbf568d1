import type { UploadPersistence } from "./persistence.ts";
import type { SendRequest, SendResult } from "./transfer.ts";

/** What the engine depends on. */
export interface EngineDependencies {
  readonly endpoint: () => string;
  readonly send: (request: SendRequest) => Promise<SendResult>;
  /** Deletes a canceled upload on the server; never rejects. */
  readonly terminate: (url: string) => Promise<void>;
  readonly persistence: UploadPersistence;
  /** Resolves when somebody is signed in again, or when it is worth trying again. */
  readonly whenSignedIn: () => Promise<void>;
  /** Called after a file is stored. */
  readonly onStored: () => void;
  /**
   * Called when nothing is left to send, with the number of files stored since the start and the number that need a
   * person.
   */
  readonly onSettled: (stored: number, blocked: number) => void;
}
