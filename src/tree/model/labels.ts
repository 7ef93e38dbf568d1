/** Checks tags and metadata. Called once for each request; all other code relies on it. */
import { AppError, invalidField } from "../../errors.ts";
import { fold } from "../../lib/path.ts";
import { say } from "../../translations/say.ts";
import type { MetadataChanges } from "./types.ts";

const TAGS_MAX = 50;
const TAG_CHARACTERS_MAX = 64;
const METADATA_BYTES_MAX = 64 * 1024;
// oxlint-disable-next-line no-control-regex -- control characters are exactly what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]|\p{Surrogate}/u;

/**
 * Normalizes tags: NFC, trimmed, without empty and repeated ones (ignoring case; the first spelling stays). At most 50
 * tags of 64 characters each, without commas and control characters.
 * @throws AppError invalid_field
 */
export function checkTags(input: readonly string[], field = "tags"): string[] {
  const byKey = new Map<string, string>();
  for (const given of input) {
    const tag = given.normalize("NFC").trim();
    if (tag === "") continue;
    if (tag.includes(","))
      throw invalidField(field, say`The tag "${tag}" contains a comma. Use separate tags instead.`);
    if (CONTROL.test(tag)) throw invalidField(field, say`A tag contains a control character. Remove it.`);
    const characters = Array.from(tag).length;
    if (characters > TAG_CHARACTERS_MAX) {
      const details = { limit: TAG_CHARACTERS_MAX, actual: characters };
      throw invalidField(
        field,
        say`A tag can have at most ${TAG_CHARACTERS_MAX} characters, but has ${characters}.`,
        details,
      );
    }
    const key = fold(tag);
    if (!byKey.has(key)) byKey.set(key, tag);
  }
  if (byKey.size > TAGS_MAX) {
    const details = { limit: TAGS_MAX, actual: byKey.size };
    throw invalidField(
      field,
      say`A file can have at most ${TAGS_MAX} tags, but would have ${byKey.size}. Remove some tags.`,
      details,
    );
  }
  return [...byKey.values()];
}

/** Parses the comma-separated tags of a form or query. @throws AppError invalid_field */
export function parseTagList(text: string, field = "tags"): string[] {
  return checkTags(text.split(","), field);
}

/**
 * Applies changes to metadata; null removes a key. Only the size of the result is checked.
 * @throws AppError invalid_field if keys and values exceed 64 KiB of UTF-8
 */
export function mergeMetadata(
  present: Readonly<Record<string, string>>,
  changes: MetadataChanges,
  field = "metadata",
): Record<string, string> {
  const merged = new Map(Object.entries(present));
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) merged.delete(key);
    else merged.set(key, value);
  }
  const result = Object.fromEntries(merged);
  checkMetadata(result, field);
  return result;
}

/**
 * Checks metadata: strings without lone surrogates, at most 64 KiB in total.
 * @throws AppError invalid_field
 */
export function checkMetadata(metadata: Readonly<Record<string, string>>, field = "metadata"): void {
  let bytes = 0;
  for (const [key, value] of Object.entries(metadata)) {
    // The schema's pattern for keys does not match keys with line breaks, so their values are unchecked here.
    if (typeof value !== "string") throw invalidField(field, say`metadata.${key} must be a string.`);
    if (key === "") throw invalidField(field, say`The metadata contains an empty key. Enter a name for it.`);
    if (!key.isWellFormed() || !value.isWellFormed()) {
      throw invalidField(field, say`The metadata contains text that is not valid Unicode. Remove it.`);
    }
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > METADATA_BYTES_MAX) {
    throw new AppError(
      "invalid_field",
      say`Metadata can have at most ${METADATA_BYTES_MAX} bytes in total, but has ${bytes}.`,
      {
        field,
        limit: METADATA_BYTES_MAX,
        actual: bytes,
      },
    );
  }
}
