/** Device ids, which devices choose themselves: vendor ids, UUIDs, or the name of the phone. */
import { invalidField } from "../errors.ts";
import { say } from "../translations/say.ts";

/** In code points. */
const CHARACTERS_MAX = 200;
/**
 * No path separators, and no invisible characters: controls, surrogates, line ends, format characters. The two joiners
 * are allowed: Persian, Indic scripts and emoji need them.
 */
const PRINTABLE = /^(?:[^\p{C}\p{Zl}\p{Zp}/\\]|[\u200c\u200d])+$/u;

/** The form in which device ids are stored and compared: NFC. Systems encode the same name in different bytes. */
export function normalizeDeviceId(deviceId: string): string {
  return deviceId.normalize("NFC");
}

/**
 * Validates and normalizes a device id.
 * @param field the field of the request, for the error
 * @throws AppError invalid_field
 */
export function checkDeviceId(given: string, field: string): string {
  const deviceId = normalizeDeviceId(given);
  const isPathPart = deviceId !== "." && deviceId !== "..";
  if (isPathPart && PRINTABLE.test(deviceId) && [...deviceId].length <= CHARACTERS_MAX) return deviceId;
  throw invalidField(
    field,
    say`${field} must have 1 to ${CHARACTERS_MAX} printable characters without / and \\, and must not be "." or "..".`,
  );
}
