/** Moves and copies many files and folders, each separately. */
import type { Writer } from "../../../db/transaction.ts";
import { AppError, type ErrorDetails, type Reason } from "../../../errors.ts";
import type { Turns } from "../../../lib/turns.ts";
import type { Idempotency, KeyedRequest } from "../idempotency/service.ts";
import { Acting } from "../permissions/acting.ts";
import { actingDevice, type Permissions, type TreeLocation } from "../permissions/permissions.ts";
import type { CopyOptions, TreeNode } from "../../../tree/model/types.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import type { User } from "../../accounts/users/types.ts";
import type { StorageLimits } from "./service.ts";

/** What {@link FileBulkService} works with. */
export interface FileBulkServiceOptions {
  readonly writer: Writer;
  readonly treeWriter: TreeWriter;
  readonly permissions: Permissions;
  readonly idempotency: Idempotency;
  readonly limitsOf: (user: User) => Pick<StorageLimits, "plan" | "quotaBytes">;
  /** One copy of folders, or restore, of an account at a time. */
  readonly turns: Turns;
  /** Holds room on the disk for the rows of a copy. @returns what lets go of it @throws AppError disk_full */
  readonly reserveSpace: (bytes: number) => () => void;
}

/** Where moves and copies go: a normalized path of the caller's own tree, or below a received share. */
export interface Destination {
  readonly path: string;
  readonly share: string | undefined;
}

/** Result of a bulk call for one id. */
export type BulkOutcome<T> =
  | { readonly id: string; readonly done: T }
  | { readonly id: string; readonly error: AppError };

/** See the head of this file. All writing is durable when a promise resolves. */
export class FileBulkService {
  readonly #options: FileBulkServiceOptions;
  readonly #acting: Acting;

  constructor(options: FileBulkServiceOptions) {
    this.#options = options;
    this.#acting = new Acting(options.treeWriter, (owner) => options.limitsOf(owner).plan);
  }

  /** Moves files and folders, each by itself, in order; only inside one account. */
  async move(user: User, ids: readonly string[], { path, share }: Destination): Promise<BulkOutcome<TreeNode>[]> {
    const { writer, treeWriter, permissions } = this.#options;
    return each(ids, (publicId) =>
      writer.run((tx) => {
        const { node, owner } = permissions.node(user, publicId, "place");
        const place = permissions.place(user, path, share);
        if (owner.id !== place.owner.id) throw betweenAccounts();
        return place.view.show(this.#acting.write(user, place, () => treeWriter.move(tx, node, place.path)));
      }),
    );
  }

  /**
   * Copies files and folders one after the other; no content is written. Folders wait for the copies and restores of
   * the account that run already. What is copied from a share is a file of the account that it goes to, and counts there. With a key the whole is done once: what failed at first is not tried
   * again.
   * @throws AppError idempotency_key | overloaded
   */
  async copy(
    user: User,
    ids: readonly string[],
    destination: Destination,
    options: Pick<CopyOptions, "onConflict" | "preserveMetadata">,
    request: KeyedRequest | undefined,
  ): Promise<BulkOutcome<TreeNode>[]> {
    const work = () => this.#copyAll(user, ids, destination, options, request);
    if (!ids.some((id) => this.#isFolder(user, id))) return work();
    return this.#options.turns.take(this.#accountsOf(user, destination), work);
  }

  #isFolder(user: User, publicId: string): boolean {
    return attempt(() => this.#options.permissions.node(user, publicId, "read").node.kind) === "folder";
  }

  /** The caller and the owner of the destination wait for their turn; a refusal comes in its turn too. */
  #accountsOf(user: User, { path, share }: Destination): number[] {
    const owner = attempt(() => this.#options.permissions.place(user, path, share).owner.id);
    return owner === undefined ? [user.id] : [user.id, owner];
  }

  async #copyAll(
    user: User,
    ids: readonly string[],
    destination: Destination,
    options: Pick<CopyOptions, "onConflict" | "preserveMetadata">,
    request: KeyedRequest | undefined,
  ): Promise<BulkOutcome<TreeNode>[]> {
    const { writer, idempotency } = this.#options;
    const first = request && idempotency.find(request);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what finish kept of this very request, below
    if (first !== undefined) return (first as ReturnType<typeof writeOutcome>[]).map(readOutcome);
    // One folder after the other; files share their commits.
    let folders: Promise<unknown> = Promise.resolve();
    const outcomes = await each(ids, (publicId, position) => {
      // Each item is remembered by itself until all are done: a crash in between copies none of them twice.
      const item = request && { ...request, key: `${request.key}#${position}` };
      const copy = () => this.#copyOne(user, publicId, destination, options, item);
      if (!this.#isFolder(user, publicId)) return copy();
      const copied = folders.then(copy);
      folders = copied.catch(() => undefined);
      return copied;
    });
    if (request !== undefined && outcomes.some((outcome) => "done" in outcome)) {
      await writer.run(() => idempotency.finish(request, outcomes.map(writeOutcome)));
    }
    return outcomes;
  }

  async #copyOne(
    user: User,
    publicId: string,
    { path, share }: Destination,
    options: Pick<CopyOptions, "onConflict" | "preserveMetadata">,
    request: KeyedRequest | undefined,
  ): Promise<TreeNode> {
    const { writer, treeWriter, permissions, idempotency, limitsOf } = this.#options;
    const admit = () => ({
      node: permissions.node(user, publicId, "read").node,
      place: permissions.place(user, path, share),
    });
    const optionsFor = ({ owner }: TreeLocation): CopyOptions => ({
      ...options,
      accountId: owner.id,
      createdBy: user.id,
      quotaBytes: limitsOf(owner).quotaBytes,
      reserveSpace: this.#options.reserveSpace,
    });
    try {
      return await writer.run((tx) =>
        idempotency.once(request, () => {
          const { node, place } = admit();
          const made = this.#acting.write(
            user,
            place,
            () => treeWriter.copy(tx, node, place.path, optionsFor(place)).node,
          );
          return place.view.show(made);
        }),
      );
    } catch (error) {
      // More than one transaction should hold: in many short ones, attached at the end.
      if (!(error instanceof AppError) || error.reason !== "invalid_request") throw error;
      const { node, place } = admit();
      const largeOptions = { ...optionsFor(place), admit: () => void admit() };
      const copy = treeWriter.copyLarge(writer, node, place.path, largeOptions, actingDevice(user, place));
      const fail = (reason: unknown) =>
        this.#acting.explaining(place, () => {
          throw reason;
        });
      const folder = place.view.show(await copy.catch(fail));
      return writer.run(() => idempotency.once(request, () => folder));
    }
  }
}

/** Undefined where it is refused. */
function attempt<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

async function each<T>(
  ids: readonly string[],
  deed: (id: string, position: number) => Promise<T>,
): Promise<BulkOutcome<T>[]> {
  return Promise.all(
    ids.map(async (id, position): Promise<BulkOutcome<T>> => {
      try {
        return { id, done: await deed(id, position) };
      } catch (error) {
        if (error instanceof AppError) return { id, error };
        throw error;
      }
    }),
  );
}

function betweenAccounts(): AppError {
  return new AppError(
    "invalid_request",
    "You can't move files between accounts. Copy the files, then delete the originals.",
    { field: "destinationFolder" },
  );
}

/** An outcome as an idempotency key keeps it. */
interface StoredError {
  readonly reason: Reason;
  readonly message: string;
  readonly details: ErrorDetails;
}

function writeOutcome(outcome: BulkOutcome<TreeNode>): readonly [string, TreeNode | null, StoredError | null] {
  if ("done" in outcome) return [outcome.id, outcome.done, null];
  const { reason, message, details } = outcome.error;
  return [outcome.id, null, { reason, message, details }];
}

function readOutcome([id, done, error]: readonly [string, TreeNode | null, StoredError | null]): BulkOutcome<TreeNode> {
  if (done !== null) return { id, done };
  const { reason = "unexpected", message = "", details = {} } = error ?? {};
  return { id, error: new AppError(reason, message, details) };
}
