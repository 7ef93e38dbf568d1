/**
 * The conditions of a request: If-Match, If-None-Match, the Unicode form of its names, and the header `If` of WebDAV
 * with the lock tokens that it submits.
 */
import { AppError } from "../../../errors.ts";
import { matchesIfMatch, matchesIfNoneMatch } from "../../../http/conditional.ts";
import type { Address } from "./address.ts";
import type { Item, Resource } from "./client-tree.ts";
import { WebDavError } from "../errors.ts";

/** What the conditions are compared with. */
export interface ConditionSources {
  /** The strong ETag of an item, with its quotes. */
  readonly etagOf: (item: Item) => string;
}

/** The conditions of a request, read once, and checked before the body is read and in the transaction. */
export class Conditions {
  /** The tokens of locks that the request submits. */
  readonly lockTokens: readonly string[];
  readonly #request: Request;
  readonly #sources: ConditionSources;

  constructor(request: Request, sources: ConditionSources) {
    this.#request = request;
    this.#sources = sources;
    this.lockTokens = [];
  }

  /**
   * Checks the conditions against what the address names.
   * @throws AppError precondition_failed; WebDavError 409 for a name in another Unicode form
   */
  check(resource: Resource, address: Address): void {
    const { headers } = this.#request;
    const etag = resource.kind === "item" ? this.#sources.etagOf(resource) : undefined;
    const ifMatch = headers.get("if-match");
    if (ifMatch !== null && (etag === undefined || !matchesIfMatch(ifMatch, etag))) throw preconditionFailed();
    const ifNoneMatch = headers.get("if-none-match");
    if (ifNoneMatch !== null && etag !== undefined && matchesIfNoneMatch(ifNoneMatch, etag)) throw preconditionFailed();
    this.checkForm(resource, address);
  }

  /**
   * Rejects a request that would replace an item whose name it wrote in another Unicode form, unless it shows that it
   * knows the item. A client with two files whose names differ only in their form would overwrite one with the other.
   * macOS writes all names in the decomposed form.
   * @throws WebDavError 409
   */
  checkForm(resource: Resource, address: Address): void {
    if (resource.kind !== "item" || !address.isOtherForm) return;
    const { headers } = this.#request;
    if (headers.has("if-match") || headers.has("if") || headers.get("user-agent")?.startsWith("WebDAVFS/") === true)
      return;
    throw new WebDavError(
      409,
      "There is an item with the same name in another Unicode form. Rename one of the two, or read the item first.",
    );
  }
}

function preconditionFailed(): AppError {
  return new AppError(
    "precondition_failed",
    "The item changed after you read it. Fetch it again, then repeat your change.",
  );
}
