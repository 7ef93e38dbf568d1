import isEmail from "validator/es/lib/isEmail";
import { invalidField } from "../../../errors.ts";
import { say } from "../../../translations/say.ts";

/**
 * Checks the syntax of an email address.
 * @returns the address without surrounding spaces, as it is shown
 * @throws AppError invalid_field
 */
export function parseEmail(text: string, field = "email"): string {
  const email = text.trim().normalize("NFC");
  // The library throws on half a UTF-16 surrogate pair, which JSON can contain.
  if (
    !email.isWellFormed() ||
    !isEmail(email, { allow_utf8_local_part: true, require_tld: false, ignore_max_length: false })
  ) {
    throw invalidField(field, say`Enter an email address in the format name@example.org.`);
  }
  return email;
}

/** The form in which addresses are compared: case is ignored. */
export function emailKey(email: string): string {
  return email.trim().normalize("NFC").toLowerCase();
}
