import { AppError } from "../../../errors.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import type { User } from "../../accounts/users/types.ts";
import { actingDevice, type TreeLocation } from "./permissions.ts";

/** The tree to be changed, and how the user sees it. */
export type WriteTarget = Pick<TreeLocation, "owner" | "isOwn" | "view">;

/** Changes trees on behalf of a user: their own tree and those shared with them. */
export class UserTreeWriter {
  readonly #treeWriter: Pick<TreeWriter, "by" | "withLockTokens">;
  readonly #planOf: (owner: User) => string;

  /** @param planOf the plan of an account, for quota errors */
  constructor(treeWriter: Pick<TreeWriter, "by" | "withLockTokens">, planOf: (owner: User) => string) {
    this.#treeWriter = treeWriter;
    this.#planOf = planOf;
  }

  /**
   * Runs a change inside the caller's transaction, with the lock tokens of the request. If the tree is the user's own,
   * the journal records their device.
   */
  write<T>(user: User, target: WriteTarget, change: () => T): T {
    const { lockTokens = [] } = user;
    return this.explainErrors(target, () =>
      this.#treeWriter.by(actingDevice(user, target), () => this.#treeWriter.withLockTokens(lockTokens, change)),
    );
  }

  /** Runs a change. Its errors contain the paths as the user sees them; quota errors also name the plan. */
  explainErrors<T>({ owner, view }: WriteTarget, change: () => T): T {
    try {
      return view.run(change);
    } catch (error) {
      if (!(error instanceof AppError) || error.reason !== "quota_exceeded") throw error;
      throw new AppError(error.reason, error.text, { ...error.details, plan: this.#planOf(owner) });
    }
  }

  /** As {@link explainErrors}, for a change in several transactions. */
  explainRejection<T>(target: WriteTarget, changed: Promise<T>): Promise<T> {
    return changed.catch((error: unknown) =>
      this.explainErrors(target, () => {
        throw error;
      }),
    );
  }
}
