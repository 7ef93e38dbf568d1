import { SourceError } from "../../source.ts";
import { say } from "../../../../../translations/say.ts";

const ID_LENGTH_MAX = 128;

/** The fields of an object in the response of a server. Unknown fields are ignored. */
export class JsonFields {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #endpoint: string;

  /**
   * @param endpoint as it is named in messages
   * @throws SourceError if the value is no object
   */
  constructor(value: unknown, endpoint: string) {
    this.#endpoint = endpoint;
    if (!isRecord(value)) throw this.#wrong("{}");
    this.#values = value;
  }

  /** @throws SourceError if it is missing */
  string(name: string): string {
    const value = this.optionalString(name);
    if (value === undefined) throw this.#wrong(name);
    return value;
  }

  /** Undefined if it is missing, null, or empty. */
  optionalString(name: string): string | undefined {
    const value = this.#values[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  }

  /** A short text that names something. @throws SourceError if it is missing or long */
  id(name: string): string {
    const value = this.string(name);
    if (value.length > ID_LENGTH_MAX) throw this.#wrong(name);
    return value;
  }

  /** @throws SourceError if it is missing */
  number(name: string): number {
    const value = this.optionalNumber(name);
    if (value === undefined) throw this.#wrong(name);
    return value;
  }

  /** Undefined if it is missing or null. */
  optionalNumber(name: string): number | undefined {
    const value = this.#values[name];
    return typeof value === "number" && Number.isFinite(value) ? value : undefined;
  }

  /** False if it is missing. */
  isTrue(name: string): boolean {
    return this.#values[name] === true;
  }

  /** @throws SourceError if it is missing */
  object(name: string): JsonFields {
    return new JsonFields(this.#values[name], this.#endpoint);
  }

  /** Undefined if it is missing or null. */
  optionalObject(name: string): JsonFields | undefined {
    const value = this.#values[name];
    return isRecord(value) ? new JsonFields(value, this.#endpoint) : undefined;
  }

  /** The objects of a list. @throws SourceError if it is missing */
  objects(name: string): JsonFields[] {
    return objectsOf(this.#values[name], this.#endpoint);
  }

  #wrong(part: string): SourceError {
    return wrongShape(this.#endpoint, part);
  }
}

/** The objects of a list. @throws SourceError if it is none */
export function objectsOf(value: unknown, endpoint: string): JsonFields[] {
  if (!Array.isArray(value)) throw wrongShape(endpoint, "[]");
  return value.map((item) => new JsonFields(item, endpoint));
}

/** @param part the field that is missing or has another type; `{}` or `[]` for the whole response */
function wrongShape(endpoint: string, part: string): SourceError {
  const message = say`The server responded to ${endpoint} in another form than expected (${part}). Larder may not know this version yet.`;
  return new SourceError(message, false);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
