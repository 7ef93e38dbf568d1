/**
 * Sync tokens: the position of a device in an account's journal. They are opaque, bound to the account, and signed: an
 * invalid token is rejected, because it could make a device miss changes. A token does not expire.
 */
import { timingSafeEqual } from "node:crypto";
import { invalidField } from "../../../errors.ts";
import type { ChangePosition, JournalRange } from "../../../tree/journal/position.ts";
import { say } from "../../../translations/say.ts";

const SIGNATURE_BYTES = 12;

/**
 * The content of a token: a {@link ChangePosition} as an array. The last four are the position within a moved folder.
 */
type Payload = readonly [
  seq: number,
  /** 1 if the run began without a token. */
  beganBlank?: number,
  /** Two numbers for each journal range. */
  ranges?: readonly number[],
  rowSeq?: number,
  folderId?: number,
  sortKey?: string,
  name?: string,
];

/** Issues and parses sync tokens. */
export class SyncTokens {
  readonly #key: Uint8Array;

  /**
   * @param secret the key is derived from it; tokens signed with another one are invalid
   * @param epoch changes when the database is restored from a snapshot: later journal numbers are then given again to
   *   other changes, so the tokens must become invalid
   */
  constructor(secret: Uint8Array, epoch = "") {
    this.#key = new Bun.CryptoHasher("sha256", secret).update(`larder sync tokens${epoch}`).digest();
  }

  /**
   * The position in a token.
   * @throws AppError invalid_field if it was not issued here for this account
   */
  parse(accountId: number, text: string): ChangePosition {
    const [body = "", signature = ""] = text.split(".", 2);
    const given = Buffer.from(signature, "base64url");
    const expected = this.#sign(accountId, body);
    if (given.length !== expected.length || !timingSafeEqual(given, expected) || text.split(".").length !== 2) {
      throw invalidField(
        "syncToken",
        say`The sync token is not valid for this account. Send the last nextSyncToken, or leave it out to start again.`,
      );
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- signed, so `issue` wrote it
    const payload = JSON.parse(Buffer.from(body, "base64url").toString()) as Payload;
    const [seq, beganBlank = 0, ranges = [], rowSeq, folderId, sortKey, name] = payload;
    const file = sortKey === undefined || name === undefined ? null : { sortKey, name };
    const within = rowSeq === undefined || folderId === undefined ? null : { rowSeq, folderId, file };
    return { seq, within, ranges: toRanges(ranges), beganBlank: beganBlank === 1 };
  }

  /** A token for a position. @param position with `seq` only, everything up to it is known */
  issue(accountId: number, position: ChangePosition | { readonly seq: number }): string {
    const body = Buffer.from(JSON.stringify(payloadOf(position))).toString("base64url");
    return `${body}.${this.#sign(accountId, body).toString("base64url")}`;
  }

  #sign(accountId: number, body: string): Buffer {
    const hasher = new Bun.CryptoHasher("sha256", this.#key).update(`${accountId}:${body}`);
    return Buffer.from(hasher.digest()).subarray(0, SIGNATURE_BYTES);
  }
}

function payloadOf(position: ChangePosition | { readonly seq: number }): Payload {
  if (!("ranges" in position)) return [position.seq];
  const { seq, within } = position;
  const beganBlank = position.beganBlank ? 1 : 0;
  const ranges = position.ranges.flatMap(({ fromSeq, headSeq }) => [fromSeq, headSeq]);
  if (within === null) return ranges.length + beganBlank === 0 ? [seq] : [seq, beganBlank, ranges];
  const { rowSeq, folderId, file } = within;
  const payload = [seq, beganBlank, ranges, rowSeq, folderId] as const;
  return file === null ? payload : [...payload, file.sortKey, file.name];
}

function toRanges(numbers: readonly number[]): JournalRange[] {
  const ranges: JournalRange[] = [];
  for (let at = 0; at < numbers.length; at += 2) {
    const [fromSeq = 0, headSeq = 0] = numbers.slice(at, at + 2);
    ranges.push({ fromSeq, headSeq });
  }
  return ranges;
}
