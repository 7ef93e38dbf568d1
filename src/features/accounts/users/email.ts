import isEmail from "validator/es/lib/isEmail";
import { invalidField } from "../../../errors.ts";

/**
 * Checks the syntax of an email address and gives it without surrounding space, as it is shown.
 * @throws AppError invalid_field
 */
export function parseEmail(text: string, field = "email"): string {
  const email = text.trim().normalize("NFC");
  // Half a pair of UTF-16, which JSON can spell, makes the library throw.
  if (
    !email.isWellFormed() ||
    !isEmail(email, { allow_utf8_local_part: true, require_tld: false, ignore_max_length: false })
  ) {
    throw invalidField(field, "Enter an email address in the format name@example.org.");
  }
  return email;
}

/** The form in which addresses are compared: case doesn't count. */
export function emailKey(email: string): string {
  return email.trim().normalize("NFC").toLowerCase();
}
