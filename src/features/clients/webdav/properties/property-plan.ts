/** What a PROPFIND asks for (RFC 4918, section 9.1), prepared once for all entries of the response. */
import { AppError } from "../../../../errors.ts";
import { say } from "../../../../translations/say.ts";
import { PROPSTAT_START, propstat, propstatEnd } from "../multistatus.ts";
import { isDav, type XmlElement } from "../xml.ts";
import {
  emptyElement,
  type Entry,
  findLive,
  isFolder,
  isReserved,
  keyOf,
  listLive,
  type LiveProperty,
  type ResponsePart,
  type SliceFacts,
} from "./live-properties.ts";

/** Properties that one request may name: the longest requests of known clients name about 50. */
const NAMES_MAX = 256;
/** Characters of their elements together, which the response repeats for each entry: known clients send about 3,000. */
const NAMES_LENGTH_MAX = 32 * 1024;

/** The name of a property. */
export interface PropertyName {
  readonly namespace: string;
  readonly name: string;
}

/** What is read for the entries of a plan. */
export interface PlanNeeds {
  readonly states: boolean;
  /** The sizes in the states, which may have to be added up first. */
  readonly sizes: boolean;
  readonly dead: boolean;
  readonly locks: boolean;
  readonly favorites: boolean;
}

/** The prepared properties of files or of folders. */
interface KindPlan {
  /** The elements of properties that exist. */
  readonly parts: readonly ResponsePart[];
  /** The elements of properties that do not exist. */
  readonly missing: string;
  /** Properties that exist where a client stored them. */
  readonly dead: readonly { readonly key: string; readonly missing: string }[];
  /** What follows the href of an entry with which no client stored a property. */
  readonly common: readonly ResponsePart[];
}

type Mode = "named" | "all" | "names";

/** The properties to write for each entry. */
export class PropertyPlan {
  readonly needs: PlanNeeds;
  readonly #mode: Mode;
  readonly #file: KindPlan;
  readonly #folder: KindPlan;

  private constructor(mode: Mode, names: readonly PropertyName[]) {
    this.#mode = mode;
    this.#file = planFor("file", mode, names);
    this.#folder = planFor("folder", mode, names);
    const asks = (...some: string[]) => names.some(({ name }) => some.includes(name));
    const isAll = mode === "all";
    this.needs = {
      states: isAll || asks("getetag", "getlastmodified", "size", "quota-used-bytes"),
      sizes: asks("size", "quota-used-bytes"),
      dead: mode !== "named" || asks("displayname") || this.#file.dead.length > 0 || this.#folder.dead.length > 0,
      locks: isAll || asks("lockdiscovery", "lock"),
      favorites: asks("favorite"),
    };
  }

  /**
   * Reads the body of a PROPFIND; without a body, all properties.
   * @throws AppError invalid_request
   */
  static read(body: XmlElement | undefined): PropertyPlan {
    if (body === undefined) return new PropertyPlan("all", []);
    if (!isDav(body, "propfind")) throw invalidPropfind();
    const find = (name: string) => body.children.filter((child) => isDav(child, name));
    const named = find("prop").flatMap(({ children }) => children);
    const [isAll, isNames, isNamed] = [find("allprop"), find("propname"), find("prop")].map(({ length }) => length > 0);
    if ([isAll, isNames, isNamed].filter(Boolean).length !== 1) throw invalidPropfind();
    if (isNames === true) return new PropertyPlan("names", []);
    const included = find("include").flatMap(({ children }) => children);
    const names = distinct(isAll === true ? included : named);
    rejectTooMany(names);
    return new PropertyPlan(isAll === true ? "all" : "named", names);
  }

  /** The properties that a REPORT names in its element `prop`; without it, all. @throws AppError invalid_request */
  static ofReport(body: XmlElement): PropertyPlan {
    const prop = body.children.find((child) => isDav(child, "prop"));
    if (prop === undefined) return new PropertyPlan("all", []);
    const names = distinct(prop.children);
    rejectTooMany(names);
    return new PropertyPlan("named", names);
  }

  /** Characters of the response that are the same for each entry: many, if the request names many properties. */
  get constantLength(): number {
    return Math.max(constantLengthOf(this.#file.common), constantLengthOf(this.#folder.common));
  }

  /** The element `response` of an entry. */
  render(entry: Entry, facts: SliceFacts): string {
    const plan = isFolder(entry.node) ? this.#folder : this.#file;
    const stored = this.needs.dead ? facts.dead.get(entry.node.id) : undefined;
    const start = `<d:response><d:href>${entry.href}`;
    if (stored === undefined) return write(start, plan.common, entry, facts);
    let found = write("", plan.parts, entry, facts);
    let absent = plan.missing;
    for (const { key, missing } of plan.dead) {
      const property = stored.find((candidate) => keyOf(candidate) === key);
      if (property === undefined) absent += missing;
      else found += property.value;
    }
    if (this.#mode !== "named") {
      for (const property of stored) {
        // One with a default value is among the parts already.
        if (findLive(property.namespace, property.name)?.isReplaceable === true) continue;
        found += this.#mode === "all" ? property.value : emptyElement(property);
      }
    }
    return `${start}</d:href>${write("", responseOf([found], absent), entry, facts)}`;
  }
}

/** @throws AppError invalid_request for more properties, or longer names, than a request may have */
export function rejectTooMany(names: readonly PropertyName[]): void {
  if (names.length > NAMES_MAX) {
    const message = say`A request can name at most ${NAMES_MAX} properties. Send several requests.`;
    throw new AppError("invalid_request", message, { limit: NAMES_MAX });
  }
  if (names.reduce((sum, name) => sum + emptyElement(name).length, 0) > NAMES_LENGTH_MAX) {
    const message = say`The names of the properties are too long. Send several requests.`;
    throw new AppError("invalid_request", message, { limit: NAMES_LENGTH_MAX });
  }
}

function write(start: string, parts: readonly ResponsePart[], entry: Entry, facts: SliceFacts): string {
  let text = start;
  for (const part of parts) text += typeof part === "string" ? part : part(entry, facts);
  return text;
}

function constantLengthOf(parts: readonly ResponsePart[]): number {
  return parts.reduce((sum, part) => sum + (typeof part === "string" ? part.length : 0), 0);
}

/** What follows the href. An entry without any property still has one `propstat`. */
function responseOf(found: readonly ResponsePart[], absent: string): ResponsePart[] {
  const isEmpty = found.every((part) => part === "");
  const existing = isEmpty && absent !== "" ? [] : [PROPSTAT_START, ...found, propstatEnd("200 OK")];
  return [...existing, absent === "" ? "" : propstat(absent, "404 Not Found"), "</d:response>"];
}

function planFor(kind: "file" | "folder", mode: Mode, names: readonly PropertyName[]): KindPlan {
  if (mode === "names") {
    const live = listLive().filter((property) => property[kind] !== undefined);
    return prepared([live.map(emptyElement).join("")], "", []);
  }
  const all = mode === "all" ? listLive().filter(({ isInAllprop }) => isInAllprop) : [];
  const parts = all.flatMap((property) => property[kind] ?? []);
  let missing = "";
  const dead: { key: string; missing: string }[] = [];
  for (const name of names) {
    const live = findLive(name.namespace, name.name);
    if (mode === "all" && isInAll(live)) continue;
    const part = live?.[kind];
    if (part !== undefined) parts.push(...part);
    else if (isReserved(name.namespace)) missing += emptyElement(name);
    // All stored properties are part of "all" already.
    else if (mode === "named") dead.push({ key: keyOf(name), missing: emptyElement(name) });
  }
  return prepared(parts, missing, dead);
}

function prepared(parts: readonly ResponsePart[], missing: string, dead: KindPlan["dead"]): KindPlan {
  const absent = missing + dead.map((property) => property.missing).join("");
  return { parts, missing, dead, common: joinNeighbors(["</d:href>", ...responseOf(parts, absent)]) };
}

function isInAll(live: LiveProperty | undefined): boolean {
  return live === undefined || live.isInAllprop;
}

/** Joins parts that are always the same: fewer and longer ones take half the time to write and to encode. */
function joinNeighbors(parts: readonly ResponsePart[]): ResponsePart[] {
  const joined: ResponsePart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (typeof part === "string" && typeof last === "string") joined[joined.length - 1] = last + part;
    else joined.push(part);
  }
  return joined;
}

function distinct(elements: readonly XmlElement[]): PropertyName[] {
  return [
    ...new Map(elements.map(({ namespace, name }) => [keyOf({ namespace, name }), { namespace, name }])).values(),
  ];
}

function invalidPropfind(): AppError {
  return new AppError(
    "invalid_request",
    say`The body of PROPFIND must be an element propfind of the namespace DAV: with one of prop, allprop and propname.`,
  );
}
