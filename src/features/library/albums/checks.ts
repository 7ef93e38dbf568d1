/** Checks the texts and the limits of albums. */
import { AppError, invalidField, notFound } from "../../../errors.ts";
import { say } from "../../../translations/say.ts";
import { ALBUMS_MAX, ITEMS_MAX } from "./types.ts";

const NAME_CHARACTERS_MAX = 255;
const DESCRIPTION_CHARACTERS_MAX = 10_000;

/** The error for a file that does not exist, or belongs to another account. */
export function noFile(): AppError {
  return notFound(say`This file was not found.`);
}

/** A name in its stored form. @throws AppError invalid_field */
export function checkName(given: string): string {
  const name = given.trim().normalize("NFC");
  if (name === "") throw invalidField("name", say`The name is empty. Enter a name.`);
  if (name.length > NAME_CHARACTERS_MAX || !name.isWellFormed() || /\p{Cc}/u.test(name)) {
    throw invalidField(
      "name",
      say`A name can have at most ${NAME_CHARACTERS_MAX} characters, and no control characters.`,
    );
  }
  return name;
}

/** A description in its stored form. @throws AppError invalid_field */
export function checkDescription(given: string): string {
  const text = given.normalize("NFC");
  if (text.length <= DESCRIPTION_CHARACTERS_MAX && text.isWellFormed()) return text;
  throw invalidField("description", say`A description can have at most ${DESCRIPTION_CHARACTERS_MAX} characters.`);
}

/** The error for one album too many. */
export function tooManyAlbums(): AppError {
  const message = say`You can have at most ${ALBUMS_MAX} albums. Delete an album first.`;
  return new AppError("quota_exceeded", message, { limit: ALBUMS_MAX, of: "albums" });
}

/** The error for one file too many. */
export function tooManyItems(): AppError {
  const message = say`An album can have at most ${ITEMS_MAX} files, including those in the trash. Use another album.`;
  return new AppError("quota_exceeded", message, { limit: ITEMS_MAX, of: "albumItems" });
}
