/** Moves and copies many files and folders, each independently of the others. */
import type { Writer } from "../../../db/transaction.ts";
import { AppError, type ErrorDetails, type Reason } from "../../../errors.ts";
import type { Turns } from "../../../lib/turns.ts";
import type { Idempotency, KeyedRequest } from "../idempotency/service.ts";
import { UserTreeWriter } from "../permissions/user-tree-writer.ts";
import { actingDevice, type Permissions, type TreeLocation } from "../permissions/permissions.ts";
import type { CopyOptions, TreeNode } from "../../../tree/model/types.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import { say, sayStored, sayText, type StoredMessage } from "../../../translations/say.ts";
import type { User } from "../../accounts/users/types.ts";
import { attempt, type Outcome } from "./outcomes.ts";
import type { StorageLimits } from "./storage-limits.ts";

/** Dependencies of {@link FileBulkService}. */
export interface FileBulkServiceOptions {
  readonly writer: Writer;
  readonly treeWriter: TreeWriter;
  readonly permissions: Permissions;
  readonly idempotency: Idempotency;
  readonly limitsOf: (user: User) => Pick<StorageLimits, "plan" | "quotaBytes">;
  /** One copy of folders, or restore, of an account at a time. */
  readonly turns: Turns;
  /** Reserves disk space for the rows of a copy. @returns a function that releases it @throws AppError disk_full */
  readonly reserveSpace: (bytes: number) => () => void;
}

/** Where moves and copies go: a normalized path of the caller's own tree, or below a received share. */
export interface Destination {
  readonly path: string;
  readonly share: string | undefined;
}

/** Bulk moves and copies. All writes are durable when a promise resolves. */
export class FileBulkService {
  readonly #options: FileBulkServiceOptions;
  readonly #userTreeWriter: UserTreeWriter;

  constructor(options: FileBulkServiceOptions) {
    this.#options = options;
    this.#userTreeWriter = new UserTreeWriter(options.treeWriter, (owner) => options.limitsOf(owner).plan);
  }

  /** Moves files and folders independently, in order; only within one account. */
  async move(user: User, ids: readonly string[], { path, share }: Destination): Promise<Outcome<TreeNode>[]> {
    const { writer, treeWriter, permissions } = this.#options;
    return attemptEach(ids, (publicId) =>
      writer.run((tx) => {
        const { node, owner } = permissions.node(user, publicId, "manage");
        const target = permissions.location(user, path, share);
        if (owner.id !== target.owner.id) throw crossAccountMove();
        return target.view.show(this.#userTreeWriter.write(user, target, () => treeWriter.move(tx, node, target.path)));
      }),
    );
  }

  /**
   * Copies files and folders one after the other; no bytes are written. Folders wait for running copies and restores of
   * the account. A copy from a share belongs to the target account and counts there. With a key the whole request runs
   * once: items that failed the first time are not retried.
   * @throws AppError idempotency_key | overloaded
   */
  async copy(
    user: User,
    ids: readonly string[],
    destination: Destination,
    options: Pick<CopyOptions, "onConflict" | "preserveMetadata">,
    request: KeyedRequest | undefined,
  ): Promise<Outcome<TreeNode>[]> {
    const work = () => this.#copyAll(user, ids, destination, options, request);
    if (!ids.some((id) => this.#isFolder(user, id))) return work();
    return this.#options.turns.take(this.#accountsOf(user, destination), work);
  }

  #isFolder(user: User, publicId: string): boolean {
    return unlessRejected(() => this.#options.permissions.node(user, publicId, "read").node.kind) === "folder";
  }

  /** The accounts whose turn a copy waits for: the caller, and the owner of the destination if access is permitted. */
  #accountsOf(user: User, { path, share }: Destination): number[] {
    const owner = unlessRejected(() => this.#options.permissions.location(user, path, share).owner.id);
    return owner === undefined ? [user.id] : [user.id, owner];
  }

  async #copyAll(
    user: User,
    ids: readonly string[],
    destination: Destination,
    options: Pick<CopyOptions, "onConflict" | "preserveMetadata">,
    request: KeyedRequest | undefined,
  ): Promise<Outcome<TreeNode>[]> {
    const { writer, idempotency } = this.#options;
    const first = request && idempotency.find(request);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- stored by finish for this request, below
    if (first !== undefined) return (first as ReturnType<typeof writeOutcome>[]).map(readOutcome);
    // Folders are copied one after the other; files share commits.
    let folders: Promise<unknown> = Promise.resolve();
    const outcomes = await attemptEach(ids, (publicId, position) => {
      // Each item has its own key until all are done: after a crash in between, none is copied twice.
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
      target: permissions.location(user, path, share),
    });
    const optionsFor = ({ owner }: TreeLocation): CopyOptions => ({
      ...options,
      accountId: owner.id,
      createdBy: user.id,
      quotaBytes: limitsOf(owner).quotaBytes,
      reserveSpace: this.#options.reserveSpace,
      lockTokens: user.lockTokens,
    });
    try {
      return await writer.run((tx) =>
        idempotency.once(request, () => {
          const { node, target } = admit();
          const made = this.#userTreeWriter.write(
            user,
            target,
            () => treeWriter.copy(tx, node, target.path, optionsFor(target)).node,
          );
          return target.view.show(made);
        }),
      );
    } catch (error) {
      // Too large for one transaction: copied in many short ones and attached at the end.
      if (!(error instanceof AppError) || error.reason !== "invalid_request") throw error;
      const { node, target } = admit();
      // The copy is attached at the path as it was at the beginning, which may now be outside a share.
      const admitAgain = () => {
        const now = admit().target;
        if (now.path === target.path && now.owner.id === target.owner.id) return;
        throw new AppError("not_found", say`The destination was moved during the copy. Repeat the copy.`);
      };
      const largeOptions = { ...optionsFor(target), admit: admitAgain };
      const copy = treeWriter.copyLarge(writer, node, target.path, largeOptions, actingDevice(user, target));
      const folder = target.view.show(await this.#userTreeWriter.explainRejection(target, copy));
      return writer.run(() => idempotency.once(request, () => folder));
    }
  }
}

/** Returns undefined if `check` throws an AppError. */
function unlessRejected<T>(check: () => T): T | undefined {
  try {
    return check();
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

async function attemptEach<T>(
  ids: readonly string[],
  change: (id: string, position: number) => Promise<T>,
): Promise<Outcome<T>[]> {
  return Promise.all(ids.map((id, position) => attempt(id, () => change(id, position))));
}

function crossAccountMove(): AppError {
  return new AppError(
    "invalid_request",
    say`You can't move files between accounts. Copy the files, then delete the originals.`,
    { field: "destinationFolder" },
  );
}

/** An outcome as stored under an idempotency key. */
interface StoredError {
  readonly reason: Reason;
  readonly message: string;
  readonly details: ErrorDetails;
  /** Undefined in results of earlier versions. */
  readonly text?: StoredMessage;
}

function writeOutcome(outcome: Outcome<TreeNode>): readonly [string, TreeNode | null, StoredError | null] {
  if ("done" in outcome) return [outcome.id, outcome.done, null];
  const { reason, message, details, text } = outcome.error;
  return [outcome.id, null, { reason, message, details, text: text.stored() }];
}

function readOutcome([id, done, error]: readonly [string, TreeNode | null, StoredError | null]): Outcome<TreeNode> {
  if (done !== null) return { id, done };
  const { reason = "unexpected", message = "", details = {}, text } = error ?? {};
  return { id, error: new AppError(reason, text === undefined ? sayText(message) : sayStored(text), details) };
}
