/** What a PROPPATCH changes (RFC 4918, section 9.2). */
import { AppError } from "../../../../errors.ts";
import type { PropertyChange } from "../../../../tree/tables/properties.ts";
import { say } from "../../../../translations/say.ts";
import { DAV, isDav, languageOf, writeElement, type XmlElement } from "../xml.ts";
import { storableDate } from "./dates.ts";
import { findLive, isFavoriteMark, isReserved, MICROSOFT } from "./live-properties.ts";
import { type PropertyName, rejectTooMany } from "./property-plan.ts";

/** One instruction of a PROPPATCH: sets or removes a property. */
export type Instruction = PropertyName & { readonly effect: Effect };

/** What an instruction does: a stored property, the file's own date (ISO 8601), the mark of a favorite, or nothing, because it is invalid. */
type Effect =
  | { readonly kind: "store"; readonly change: PropertyChange }
  | { readonly kind: "date"; readonly fileModifiedAt: string }
  | { readonly kind: "favorite"; readonly isFavorite: boolean }
  | { readonly kind: "protected" }
  | { readonly kind: "invalid" };

/** Properties that set the own date of a file: of RFC 4918, of rclone, and of Windows. */
const DATES: readonly PropertyName[] = [
  { namespace: DAV, name: "getlastmodified" },
  { namespace: DAV, name: "lastmodified" },
  { namespace: MICROSOFT, name: "Win32LastModifiedTime" },
];

/** An instruction of the body, before it is known what kind of item it changes. */
interface Requested {
  readonly property: XmlElement;
  readonly isRemoval: boolean;
  readonly language: string | undefined;
}

/** The instructions of a PROPPATCH, in order. */
export class PropertyUpdate {
  readonly #requested: readonly Requested[];

  /** @throws AppError invalid_request */
  constructor(body: XmlElement | undefined) {
    this.#requested = body === undefined || !isDav(body, "propertyupdate") ? [] : requestedIn(body);
    if (this.#requested.length === 0) {
      const message = say`The body of PROPPATCH must be an element propertyupdate of the namespace DAV: with properties.`;
      throw new AppError("invalid_request", message);
    }
    rejectTooMany(this.#requested.map(({ property }) => property));
  }

  /** The instructions for a file or for a folder. */
  instructionsFor(kind: "file" | "folder"): Instruction[] {
    return this.#requested.map((requested) => {
      const { namespace, name } = requested.property;
      return { namespace, name, effect: effectOf(requested, kind) };
    });
  }
}

function requestedIn(body: XmlElement): Requested[] {
  return body.children.flatMap((action) => {
    const isRemoval = isDav(action, "remove");
    if (!isRemoval && !isDav(action, "set")) return [];
    return action.children
      .filter((child) => isDav(child, "prop"))
      .flatMap((prop) => {
        const language = languageOf(prop) ?? languageOf(action) ?? languageOf(body);
        return prop.children.map((property) => ({ property, isRemoval, language }));
      });
  });
}

function effectOf({ property, isRemoval, language }: Requested, kind: "file" | "folder"): Effect {
  const { namespace, name } = property;
  const isDate = DATES.some((date) => date.namespace === namespace && date.name === name);
  if (kind === "file" && isDate && !isRemoval) {
    const fileModifiedAt = readDate(property.text.trim());
    return fileModifiedAt === undefined ? { kind: "invalid" } : { kind: "date", fileModifiedAt };
  }
  if (isFavoriteMark(property)) {
    const isFavorite = isRemoval ? false : MARKS.get(property.text.trim());
    return isFavorite === undefined ? { kind: "invalid" } : { kind: "favorite", isFavorite };
  }
  const live = findLive(namespace, name);
  if (isReserved(namespace) || (live?.[kind] !== undefined && !live.isReplaceable)) return { kind: "protected" };
  const value = isRemoval ? null : writeElement(property, language);
  return { kind: "store", change: { namespace, name, value } };
}

/** The values of `oc:favorite` that clients send. */
const MARKS: ReadonlyMap<string, boolean> = new Map([
  ["1", true],
  ["true", true],
  ["0", false],
  ["false", false],
  ["", false],
]);

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;
const ISO_DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
const SECONDS = /^-?\d{1,12}(\.\d{1,9})?$/;

/** A date as in HTTP headers, of ISO 8601, or in seconds since 1970, as ISO 8601; undefined if it is invalid. */
function readDate(text: string): string | undefined {
  const isText = HTTP_DATE.test(text) || ISO_DATE.test(text);
  return storableDate(isText ? Date.parse(text) : SECONDS.test(text) ? Number(text) * 1000 : Number.NaN);
}
