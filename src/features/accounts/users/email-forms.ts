/** Forms of email addresses that reveal look-alikes: two accounts must not be confused with each other. */
import { SKELETON_VERSION, skeleton, withoutIgnorable } from "../../../lib/skeleton.ts";

/** The forms stored for each address, in indexed columns. */
interface EmailForms {
  /** Folded by compatibility and case (NFKC_Casefold): wide, small and styled letters become plain ones. */
  readonly folded: string;
  /** The UTS 39 skeleton of the folded address. */
  readonly skeleton: string;
}

/**
 * Changes with the tables and with the code below. Stored with the forms: other versions are computed again at the next
 * start.
 */
export const EMAIL_FORMS_VERSION = `1:${SKELETON_VERSION}`;

/** Both forms of an address. */
export function emailForms(email: string): EmailForms {
  const folded = fold(email);
  return { folded, skeleton: skeleton(folded) };
}

/**
 * The skeletons that a new address must not share, including that of the letters as written: a capital I looks like an
 * l.
 */
export function skeletonsToCheck(email: string): readonly [folded: string, shown: string] {
  return [skeleton(fold(email)), skeleton(email.normalize("NFKC"))];
}

function fold(email: string): string {
  // Letter by letter, because the final form of a sigma depends on its neighbors. Upper case first, so that ß becomes
  // ss.
  const characters = [...withoutIgnorable(email.trim().normalize("NFKC"))];
  const folded = characters.map((character) => character.toUpperCase().toLowerCase()).join("");
  return withoutIgnorable(folded.normalize("NFKC"));
}
