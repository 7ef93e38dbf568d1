/**
 * Sync tokens: a place in an account's journal as a device carries it. Opaque, bound to the account, and signed, so
 * that one that is not ours is known as such instead of losing somebody's changes. A token never expires by itself.
 */
import { timingSafeEqual } from "node:crypto";
import { invalidField } from "../../../errors.ts";
import type { ChangePosition, JournalRange } from "../../../tree/journal/position.ts";

const SIGNATURE_BYTES = 12;

/** What a token holds: the numbers of a {@link ChangePosition}, and where it is within the row of a moved folder. */
type Payload = readonly [
  seq: number,
  /** 1 where nothing was known when the run began. */
  beganBlank?: number,
  /** Two numbers for each stretch. */
  ranges?: readonly number[],
  rowSeq?: number,
  folderId?: number,
  sortKey?: string,
  name?: string,
];

/** Makes and reads sync tokens. */
export class SyncTokens {
  readonly #key: Uint8Array;

  /**
   * @param secret from which the key is derived; with another one all tokens are void
   * @param epoch changed when the database goes on from a snapshot: what was told since then may come again with other
   *   numbers, so that the tokens of that time are void too
   */
  constructor(secret: Uint8Array, epoch = "") {
    this.#key = new Bun.CryptoHasher("sha256", secret).update(`larder sync tokens${epoch}`).digest();
  }

  /**
   * The place that a token stands for.
   * @throws AppError invalid_field for one that is not ours, or of another account
   */
  parse(accountId: number, text: string): ChangePosition {
    const [body = "", signature = ""] = text.split(".", 2);
    const given = Buffer.from(signature, "base64url");
    const expected = this.#sign(accountId, body);
    if (given.length !== expected.length || !timingSafeEqual(given, expected) || text.split(".").length !== 2) {
      throw invalidField(
        "syncToken",
        "The sync token is not valid for this account. Send the last nextSyncToken, or leave it out to start again.",
      );
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- signed by us: `issue` made it
    const payload = JSON.parse(Buffer.from(body, "base64url").toString()) as Payload;
    const [seq, beganBlank = 0, ranges = [], rowSeq, folderId, sortKey, name] = payload;
    const file = sortKey === undefined || name === undefined ? null : { sortKey, name };
    const within = rowSeq === undefined || folderId === undefined ? null : { rowSeq, folderId, file };
    return { seq, within, ranges: toRanges(ranges), beganBlank: beganBlank === 1 };
  }

  /** The token of a place. @param cursor with its number alone: everything up to it is known */
  issue(accountId: number, cursor: ChangePosition | { readonly seq: number }): string {
    const body = Buffer.from(JSON.stringify(payloadOf(cursor))).toString("base64url");
    return `${body}.${this.#sign(accountId, body).toString("base64url")}`;
  }

  #sign(accountId: number, body: string): Buffer {
    const hasher = new Bun.CryptoHasher("sha256", this.#key).update(`${accountId}:${body}`);
    return Buffer.from(hasher.digest()).subarray(0, SIGNATURE_BYTES);
  }
}

function payloadOf(cursor: ChangePosition | { readonly seq: number }): Payload {
  if (!("ranges" in cursor)) return [cursor.seq];
  const { seq, within } = cursor;
  const beganBlank = cursor.beganBlank ? 1 : 0;
  const ranges = cursor.ranges.flatMap(({ fromSeq, headSeq }) => [fromSeq, headSeq]);
  if (within === null) return ranges.length + beganBlank === 0 ? [seq] : [seq, beganBlank, ranges];
  const { rowSeq, folderId, file } = within;
  const place = [seq, beganBlank, ranges, rowSeq, folderId] as const;
  return file === null ? place : [...place, file.sortKey, file.name];
}

function toRanges(numbers: readonly number[]): JournalRange[] {
  const ranges: JournalRange[] = [];
  for (let at = 0; at < numbers.length; at += 2) {
    const [fromSeq = 0, headSeq = 0] = numbers.slice(at, at + 2);
    ranges.push({ fromSeq, headSeq });
  }
  return ranges;
}
