import { AppError } from "../../../errors.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import type { User } from "../../accounts/users/types.ts";
import { actingDevice, type TreeLocation } from "./permissions.ts";

/** The tree of a change, and how the user sees it. */
export type Target = Pick<TreeLocation, "owner" | "isOwn" | "view">;

/** Changes trees in the name of a user: their own and those shared with them. */
export class Acting {
  readonly #treeWriter: Pick<TreeWriter, "by">;
  readonly #planOf: (owner: User) => string;

  /** @param planOf the plan of an account, for quota errors */
  constructor(treeWriter: Pick<TreeWriter, "by">, planOf: (owner: User) => string) {
    this.#treeWriter = treeWriter;
    this.#planOf = planOf;
  }

  /**
   * Runs a change of the tree. The journal names the device of the user if the tree is their own. Inside a transaction.
   */
  write<T>(user: User, target: Target, change: () => T): T {
    return this.explaining(target, () => this.#treeWriter.by(actingDevice(user, target), change));
  }

  /** Runs a change; its errors contain the paths that the user knows, and quota errors the plan. */
  explaining<T>({ owner, view }: Target, change: () => T): T {
    try {
      return view.run(change);
    } catch (error) {
      if (!(error instanceof AppError) || error.reason !== "quota_exceeded") throw error;
      throw new AppError(error.reason, error.message, { ...error.details, plan: this.#planOf(owner) });
    }
  }
}
