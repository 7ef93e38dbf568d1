import { invalidField } from "../../../errors.ts";
import { say } from "../../../translations/say.ts";

/**
 * The stored form of a name of a person, a key or a passkey: NFC, without surrounding spaces.
 * @param charactersMax counted by code point
 * @throws AppError invalid_field
 */
export function checkName(text: string, charactersMax: number): string {
  const name = text.trim().normalize("NFC");
  // Half a UTF-16 surrogate pair, which JSON can contain, would come back from the database as another character.
  const isText = name !== "" && name.isWellFormed();
  // oxlint-disable-next-line no-control-regex -- rejects control characters
  if (!isText || [...name].length > charactersMax || /[\u0000-\u001f\u007f-\u009f]/.test(name)) {
    throw invalidField("name", say`A name must have 1 to ${charactersMax} characters, and no control characters.`);
  }
  return name;
}
