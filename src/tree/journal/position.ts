/** How far a reader of an account's journal has come. */
import type { ExpansionPosition } from "./moved-folders.ts";

/**
 * A range of the journal that a reader has read in this run: from a number to where the next range begins, or to where
 * the reader is. `headSeq` was the journal's head when the range began.
 */
export interface JournalRange {
  readonly fromSeq: number;
  readonly headSeq: number;
}

/** How far a reader has come. */
export interface ChangePosition {
  /** All rows up to this number have been read. */
  readonly seq: number;
  /** Where the reader stopped in the expansion of the next row; that row's number is `seq + 1` or more. */
  readonly within: (ExpansionPosition & { readonly rowSeq: number }) | null;
  /** What has been read in this run. Empty if no run has begun: the reader then knows everything up to `seq`. */
  readonly ranges: readonly JournalRange[];
  /** Whether the reader knew nothing when the run began. It then needs only deletions of what this run emitted. */
  readonly beganBlank: boolean;
}

/** Others writing between two pages begin a new range. Beyond this number the first two are merged. */
const RANGES_MAX = 12;

/** The position of a reader that knows everything up to a number. */
export function knownUpTo(seq: number): ChangePosition {
  return { seq, within: null, ranges: [], beganBlank: false };
}

/** The position of a reader that knows nothing and wants everything. */
export const NOTHING_KNOWN: ChangePosition = { seq: 0, within: null, ranges: [], beganBlank: true };

/** The number up to which a reader knew everything when its run began. */
export function runStart({ seq, ranges: [first] }: ChangePosition): number {
  return first?.fromSeq ?? seq;
}

/** The journal's head when a reader's run began. */
export function runHeadOf({ seq, ranges: [first] }: ChangePosition): number {
  return first?.headSeq ?? seq;
}

/** The last row of which the reader may have emitted something: of a row in expansion, the moved folder itself. */
export function lastReadSeq({ seq, within }: ChangePosition): number {
  return within?.rowSeq ?? seq;
}

/** The ranges of a reader that continues from a position with the journal's head at `headSeq`. */
export function continueRanges(position: ChangePosition, headSeq: number): readonly JournalRange[] {
  const { ranges } = position;
  if (ranges.at(-1)?.headSeq === headSeq) return ranges;
  const all = [...ranges, { fromSeq: lastReadSeq(position), headSeq }];
  const [first, , ...others] = all;
  // Merging the first two pretends that the head stayed at the earlier one. At worst a created node counts as updated.
  return all.length <= RANGES_MAX || first === undefined ? all : [first, ...others];
}
