import type { LeftOut, LeftOutReason } from "../../source.ts";
import { say } from "../../../../../translations/say.ts";

/** Remarks of one reason that are listed one by one; more are summed up. */
const LISTED_MAX = 50_000;

/** Collects what is not imported. */
export class Remarks {
  readonly #listed: LeftOut[] = [];
  readonly #counts = new Map<LeftOutReason, number>();

  add(leftOut: LeftOut): void {
    const count = (this.#counts.get(leftOut.reason) ?? 0) + 1;
    this.#counts.set(leftOut.reason, count);
    if (count <= LISTED_MAX) this.#listed.push(leftOut);
  }

  /** All of them. */
  *all(): Generator<LeftOut> {
    yield* this.#listed;
    for (const [reason, count] of this.#counts) {
      if (count <= LISTED_MAX) continue;
      yield { name: "…", reason, count: count - LISTED_MAX, message: say`More of the same, which are not listed.` };
    }
  }
}
