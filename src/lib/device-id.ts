/** How devices may call themselves: apps send vendor ids, UUIDs, or the name that a person gave the phone. */
import { invalidField } from "../errors.ts";

/** In code points. */
const CHARACTERS_MAX = 200;
/**
 * Neither separators of paths nor what prints nothing: controls, half characters, line ends, format characters. Of the
 * last the two joiners are part of how Persian, Indic scripts and emoji are written.
 */
const PRINTABLE = /^(?:[^\p{C}\p{Zl}\p{Zp}/\\]|[\u200c\u200d])+$/u;

/**
 * The one form in which device ids are stored and compared: NFC. The same name is written in other bytes on other
 * systems.
 */
export function normalizeDeviceId(deviceId: string): string {
  return deviceId.normalize("NFC");
}

/**
 * A device id as it is stored.
 * @param field where it stands in the request
 * @throws AppError invalid_field
 */
export function checkDeviceId(given: string, field: string): string {
  const deviceId = normalizeDeviceId(given);
  const isPathPart = deviceId !== "." && deviceId !== "..";
  if (isPathPart && PRINTABLE.test(deviceId) && [...deviceId].length <= CHARACTERS_MAX) return deviceId;
  throw invalidField(
    field,
    `${field} must have 1 to ${CHARACTERS_MAX} printable characters without / and \\, and must not be "." or "..".`,
  );
}
