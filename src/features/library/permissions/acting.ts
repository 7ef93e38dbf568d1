import { AppError } from "../../../errors.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import type { User } from "../../accounts/users/types.ts";
import { actingDevice, type TreeLocation } from "./permissions.ts";

/** Whose tree something touches, and how the user sees it. */
export type Target = Pick<TreeLocation, "owner" | "isOwn" | "view">;

/** Touches trees in a user's name, their own and those that others share with them. */
export class Acting {
  readonly #treeWriter: Pick<TreeWriter, "by">;
  readonly #planOf: (owner: User) => string;

  /** @param planOf the plan of an account, for what is refused by its quota */
  constructor(treeWriter: Pick<TreeWriter, "by">, planOf: (owner: User) => string) {
    this.#treeWriter = treeWriter;
    this.#planOf = planOf;
  }

  /** Runs a transaction of the tree; the owner's journal names the user's device where it is their own. Inside a transaction. */
  write<T>(user: User, target: Target, deed: () => T): T {
    return this.explaining(target, () => this.#treeWriter.by(actingDevice(user, target), deed));
  }

  /** Lets refusals tell the paths that the user knows, and one for the quota its plan (contract §1). */
  explaining<T>({ owner, view }: Target, deed: () => T): T {
    try {
      return view.run(deed);
    } catch (error) {
      if (!(error instanceof AppError) || error.reason !== "quota_exceeded") throw error;
      throw new AppError(error.reason, error.message, { ...error.details, plan: this.#planOf(owner) });
    }
  }
}
