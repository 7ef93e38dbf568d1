/**
 * The header `If` of WebDAV (RFC 4918, section 10.4): conditions on ETags and lock tokens of the requested resource and
 * of others. It also submits lock tokens: every token in it counts as known to the client, wherever it is.
 */
import { AppError } from "../../../errors.ts";
import { type Message, say } from "../../../translations/say.ts";

const LENGTH_MAX = 8 * 1024;
const CONDITIONS_MAX = 100;

/** What a resource is compared with. */
export interface ResourceState {
  /** With its quotes; undefined if there is no resource. */
  readonly etag: string | undefined;
  /** The tokens of all locks that cover it. */
  readonly tokens: readonly string[];
}

interface Condition {
  readonly kind: "token" | "etag";
  /** A state token, or an ETag without `W/`. */
  readonly value: string;
  readonly isNegated: boolean;
}

/** Conditions of which all must be true. */
interface ConditionList {
  /** The resource as the client wrote it: an absolute URL or a path. Undefined for the one of the request. */
  readonly tag: string | undefined;
  readonly conditions: readonly Condition[];
}

/** A header `If` that was read. */
export class IfHeader {
  /** The state tokens in the header, each once. */
  readonly tokens: readonly string[];
  readonly #lists: readonly ConditionList[];

  /** @throws AppError invalid_request for a malformed header, and one that is too long */
  constructor(header: string) {
    this.#lists = readLists(header);
    const conditions = this.#lists.flatMap((list) => list.conditions);
    this.tokens = [...new Set(conditions.filter(({ kind }) => kind === "token").map(({ value }) => value))];
  }

  /**
   * Whether at least one list is true.
   * @param stateOf the state of a resource by its tag; undefined: the requested one. Asked once for each tag.
   */
  matches(stateOf: (tag: string | undefined) => ResourceState): boolean {
    const states = new Map<string | undefined, ResourceState>();
    return this.#lists.some(({ tag, conditions }) => {
      const state = states.get(tag) ?? stateOf(tag);
      states.set(tag, state);
      return conditions.every((condition) => isTrue(condition, state));
    });
  }

  /** Whether the client knows a resource: it sent its ETag or the token of one of its locks. */
  knows(state: ResourceState): boolean {
    return this.#lists.some(({ conditions }) =>
      conditions.some((condition) => !condition.isNegated && isTrue(condition, state)),
    );
  }
}

/** ETags are compared weakly: a proxy may have weakened one, and RFC 4918 allows it. */
function isTrue({ kind, value, isNegated }: Condition, { etag, tokens }: ResourceState): boolean {
  const isMatch = kind === "token" ? tokens.includes(value) : etag?.replace(/^W\//, "") === value;
  return isMatch !== isNegated;
}

const TOKEN = /<([^<>\s]+)>/y;
const ETAG = /\[(?:W\/)?("[^"]*")\]/y;
const NOT = /Not(?=[\s<[])/iy;
const SPACE = /\s*/y;

/** Reads a text from the front. */
class Scanner {
  readonly #text: string;
  #position = 0;

  constructor(text: string) {
    this.#text = text;
    this.#skipSpace();
  }

  get isAtEnd(): boolean {
    return this.#position === this.#text.length;
  }

  /** Takes what the sticky pattern matches here, and the white space after it. */
  take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#position;
    const match = pattern.exec(this.#text);
    if (match === null) return undefined;
    this.#position = pattern.lastIndex;
    this.#skipSpace();
    return match;
  }

  #skipSpace(): void {
    SPACE.lastIndex = this.#position;
    SPACE.exec(this.#text);
    this.#position = SPACE.lastIndex;
  }
}

const OPEN = /\(/y;
const CLOSE = /\)/y;

function readLists(header: string): ConditionList[] {
  if (header.length > LENGTH_MAX) throw malformed(say`The header If is longer than ${LENGTH_MAX} characters.`);
  const scanner = new Scanner(header);
  const lists: ConditionList[] = [];
  let tag: string | undefined;
  let left = CONDITIONS_MAX;
  while (!scanner.isAtEnd) {
    const isTagged = tag !== undefined;
    const next = scanner.take(TOKEN);
    // Lists without a resource can't be mixed with tagged ones.
    if (next !== undefined && lists.length > 0 && !isTagged) throw malformed(say`The header If is not valid.`);
    tag = next?.[1] ?? tag;
    const conditions = readList(scanner, left);
    left -= conditions.length;
    lists.push({ tag, conditions });
  }
  if (lists.length === 0) throw malformed(say`The header If is empty.`);
  return lists;
}

/** @param max how many conditions it may have */
function readList(scanner: Scanner, max: number): Condition[] {
  if (scanner.take(OPEN) === undefined) throw malformed(say`The header If is not valid.`);
  const conditions: Condition[] = [];
  while (scanner.take(CLOSE) === undefined) {
    if (conditions.length >= max) throw malformed(say`The header If has more than ${CONDITIONS_MAX} conditions.`);
    const isNegated = scanner.take(NOT) !== undefined;
    const token = scanner.take(TOKEN)?.[1];
    const value = token ?? scanner.take(ETAG)?.[1];
    if (value === undefined) throw malformed(say`The header If is not valid.`);
    conditions.push({ kind: token === undefined ? "etag" : "token", value, isNegated });
  }
  if (conditions.length === 0) throw malformed(say`The header If is not valid.`);
  return conditions;
}

function malformed(what: Message): AppError {
  return new AppError("invalid_request", say`${what} See RFC 4918, section 10.4.`, { field: "If" });
}
