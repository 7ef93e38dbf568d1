/**
 * The conditions of a request: If-Match, If-None-Match, the Unicode form of its names, and the header `If` of WebDAV
 * with the lock tokens that it submits.
 */
import { AppError } from "../../../errors.ts";
import { matchesIfMatch, matchesIfNoneMatch } from "../../../http/conditional.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import { LOCKED } from "../../../tree/tables/locks.ts";
import { say } from "../../../translations/say.ts";
import { WebDavError } from "../errors.ts";
import type { LockService } from "../locks/service.ts";
import type { Address } from "./address.ts";
import type { ClientTree, Item, Resource } from "./client-tree.ts";
import { addressIn, type DavRequest } from "./dav-request.ts";
import { IfHeader, type ResourceState } from "./if-header.ts";
import type { ItemEtags } from "./item-etags.ts";

/** What the conditions are compared with. */
export interface ConditionSources {
  readonly tree: Pick<TreeReader, "locks">;
  readonly clientTree: Pick<ClientTree, "find">;
  readonly locks: Pick<LockService, "ownTokens">;
  /** The strong ETag of an item, with its quotes. */
  readonly etagOf: (item: Item) => string;
}

/** Headers that may compare the ETag of a folder. */
const ETAG_HEADERS = ["if", "if-match", "if-none-match"];

/**
 * Updates the ETags of folders for a request whose conditions may compare one: without this, a change below a folder
 * that no listing has shown yet would not count. Undefined if there is nothing to do.
 */
export function refreshEtags(
  { request, principal }: Pick<DavRequest, "request" | "principal">,
  { etags }: { readonly etags: Pick<ItemEtags, "refresh"> },
): Promise<void> | undefined {
  return ETAG_HEADERS.some((name) => request.headers.has(name)) ? etags.refresh(principal.user) : undefined;
}

/** The conditions of a request, read once, and checked before the body is read and in the transaction. */
export class Conditions {
  /** The tokens that the request submits of locks that its user made. */
  readonly lockTokens: readonly string[];
  readonly #davRequest: Pick<DavRequest, "request" | "principal">;
  readonly #sources: ConditionSources;
  readonly #ifHeader: IfHeader | undefined;

  /** @throws AppError invalid_request for a malformed header `If` */
  constructor(davRequest: Pick<DavRequest, "request" | "principal">, sources: ConditionSources) {
    this.#davRequest = davRequest;
    this.#sources = sources;
    const header = davRequest.request.headers.get("if");
    this.#ifHeader = header === null ? undefined : new IfHeader(header);
    this.lockTokens = sources.locks.ownTokens(davRequest.principal.user, this.#ifHeader?.tokens ?? []);
  }

  /**
   * Checks the conditions against what the address names.
   * @throws AppError precondition_failed | locked
   */
  check(resource: Resource): void {
    const { headers } = this.#davRequest.request;
    const ifHeader = this.#ifHeader;
    const ifMatch = headers.get("if-match");
    const ifNoneMatch = headers.get("if-none-match");
    if (ifHeader === undefined && ifMatch === null && ifNoneMatch === null) return;
    const state = this.#stateOf(resource);
    if (ifHeader?.matches((tag) => (tag === undefined ? state : this.#taggedState(tag))) === false) {
      // A client locks the item again after 423, and takes 412 for a change by somebody else.
      const tokens = ifHeader.tokens.filter((token) => token !== NO_LOCK);
      const isLocked =
        tokens.length > 0 && state.tokens.length > 0 && !state.tokens.some((own) => tokens.includes(own));
      throw isLocked ? locked(resource) : preconditionFailed();
    }
    const isMatch = (matches: (header: string, etag: string) => boolean, header: string) =>
      state.etag !== undefined && matches(header, state.etag);
    if (ifMatch !== null && !isMatch(matchesIfMatch, ifMatch)) throw preconditionFailed();
    if (ifNoneMatch !== null && isMatch(matchesIfNoneMatch, ifNoneMatch)) throw preconditionFailed();
  }

  /**
   * Rejects a request that would replace an item whose name it wrote in another Unicode form, unless it shows that it
   * knows the item. A client with two files whose names differ only in their form would overwrite one with the other.
   * macOS writes all names in the decomposed form.
   * @throws WebDavError 409
   */
  checkForm(resource: Resource, address: Address): void {
    if (resource.kind !== "item" || !address.isOtherForm) return;
    const { headers } = this.#davRequest.request;
    if (headers.has("if-match") || this.#ifHeader?.knows(this.#stateOf(resource)) === true) return;
    if (headers.get("user-agent")?.startsWith("WebDAVFS/") === true) return;
    throw new WebDavError(
      409,
      say`There is already a file or folder with this name, but its letters are encoded differently. Rename one of the two.`,
    );
  }

  /** The state of a resource that the header `If` names. What the client can't see has none. */
  #taggedState(tag: string): ResourceState {
    const { request, principal } = this.#davRequest;
    try {
      const address = addressIn(tag, request);
      return address === undefined ? NO_STATE : this.#stateOf(this.#sources.clientTree.find(principal, address));
    } catch (error) {
      if (error instanceof AppError && ["not_found", "invalid_path"].includes(error.reason)) return NO_STATE;
      throw error;
    }
  }

  #stateOf(resource: Resource): ResourceState {
    const { tree, etagOf } = this.#sources;
    if (resource.kind === "item") {
      const { node } = resource;
      const tokens = (tree.locks.on([node]).get(node.id) ?? []).map(({ token }) => token);
      return {
        // Read only if a condition compares it: that of a root depends on all received shares.
        get etag() {
          return etagOf(resource);
        },
        tokens,
      };
    }
    if (resource.kind !== "free" || resource.parent.kind === "shares") return NO_STATE;
    // A deep lock of a folder also covers the names in it that are free.
    const { node } = resource.parent;
    const deep = (tree.locks.on([node]).get(node.id) ?? []).filter(({ isDeep }) => isDeep);
    return { etag: undefined, tokens: deep.map(({ token }) => token) };
  }
}

/** A token that no lock has (RFC 4918, section 10.4.8). */
const NO_LOCK = "DAV:no-lock";
const NO_STATE: ResourceState = { etag: undefined, tokens: [] };

function locked(resource: Resource): AppError {
  const item = resource.kind === "free" ? resource.parent : resource;
  const nodeId = item.kind === "item" ? item.node.publicId : undefined;
  return new AppError("locked", LOCKED, { nodeId });
}

function preconditionFailed(): AppError {
  return new AppError(
    "precondition_failed",
    say`The item changed after you read it. Fetch it again, then repeat your change.`,
  );
}
