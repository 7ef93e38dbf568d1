import { type Message, say } from "../../../../../translations/say.ts";
import type { LeftOut } from "../../source.ts";
import type { Asset } from "./asset.ts";

/** Counts what is not imported of the assets. */
export class LeftOutCounts {
  ofPartners = 0;
  readonly #total: number;
  #listed = 0;
  #inStacks = 0;
  #edited = 0;
  #rated = 0;

  /** @param total how many assets the server counts */
  constructor(total: number) {
    this.#total = total;
  }

  /** How many assets were not listed yet. */
  get missing(): number {
    return this.#total - this.#listed;
  }

  note({ isInStack, isEdited, isRated }: Asset): void {
    this.#listed++;
    if (isInStack) this.#inStacks++;
    if (isEdited) this.#edited++;
    if (isRated) this.#rated++;
  }

  /** Call this when all assets were listed. */
  list(): LeftOut[] {
    const counted: (readonly [string, LeftOut["reason"], number, Message])[] = [
      [
        "Photos of partners",
        "unsupported",
        this.ofPartners,
        say`Partners share them with you. They are not imported: your partner can import them.`,
      ],
      ["Stacks", "unsupported", this.#inStacks, say`The photos of stacks are imported one by one.`],
      [
        "Edits",
        "unsupported",
        this.#edited,
        say`Photos that were cropped or rotated in Immich are imported as they were before.`,
      ],
      ["Ratings", "unsupported", this.#rated, say`Larder has no stars for photos. Ratings are not imported.`],
      [
        "Photos that Immich does not list",
        "unreadable",
        this.missing,
        say`Immich counts more photos than it lists: it has not finished reading them. Import again later.`,
      ],
    ];
    return counted
      .filter(([, , count]) => count > 0)
      .map(([name, reason, count, message]) => ({ name, reason, count, message }));
  }
}
