import { invalidField } from "../../../errors.ts";
import { say } from "../../../translations/say.ts";

/**
 * The place of a chunk among the others, from its name. Clients use numbers from 0 or 1, or the offset of the first
 * byte, with or without leading zeros; some add the offset of the last byte (`000000000-010485759`).
 * @throws AppError invalid_field
 */
export function chunkNumber(name: string): number {
  const digits = /^(\d{1,20})(-\d{1,20})?$/.exec(name)?.[1];
  const number = Number(digits);
  if (digits === undefined || !Number.isSafeInteger(number)) {
    throw invalidField("chunk", say`The name of a chunk must be its number, or the offset of its first byte.`);
  }
  return number;
}
