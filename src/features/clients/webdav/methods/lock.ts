import type { Transaction } from "../../../../db/transaction.ts";
import { AppError } from "../../../../errors.ts";
import { noteAudit } from "../../../../http/audit-note.ts";
import { invariant } from "../../../../lib/invariant.ts";
import type { FileNode, Lock, TreeNode } from "../../../../tree/model/types.ts";
import { uploaderOf } from "../../../accounts/auth/guard.ts";
import type { Uploader } from "../../../accounts/auth/principal.ts";
import { missingFolder, notThere, sharesOnly, WebDavError } from "../../errors.ts";
import { LOCK_MS_MAX } from "../../locks/service.ts";
import type { Address } from "../address.ts";
import { type FolderItem, locationOf, requireWrite } from "../client-tree.ts";
import { Conditions } from "../conditions.ts";
import { addressOf, type DavRequest, hrefOf, noteTarget } from "../dav-request.ts";
import { namesBelow } from "../locked-error.ts";
import { MULTISTATUS_END, MULTISTATUS_START, multistatusResponse } from "../multistatus.ts";
import { lockDiscovery, type LockInfo, readLockInfo } from "../lock-xml.ts";
import type { WebDavServices } from "../services.ts";
import { escapeXml } from "../../../../lib/escape-xml.ts";
import { type Message, say } from "../../../../translations/say.ts";
import { readXml } from "../xml-requests.ts";

/** A request for a lock, read. */
interface LockCall {
  readonly davRequest: DavRequest;
  readonly address: Address;
  readonly conditions: Conditions;
  readonly sender: Uploader;
  readonly durationMs: number;
}

/** What a request for a new lock describes. */
interface RequestedLock extends LockInfo {
  /** Undefined without the header Depth, as Windows sends it: everything in a folder. */
  readonly isDeep: boolean | undefined;
}

/** A lock in the response, and the node that has it. */
interface Locked {
  readonly lock: Lock;
  readonly node: TreeNode;
  /** Whether it is in a received share. */
  readonly isShared: boolean;
  readonly isNewFile: boolean;
}

/** LOCK (RFC 4918, section 9.10): a lock, also of a name that is free, or more time for one. */
export async function lock(services: WebDavServices, davRequest: DavRequest): Promise<Response> {
  const { request } = davRequest;
  noteAudit(request, { isNotDone: true });
  const call: LockCall = {
    davRequest,
    address: addressOf(request),
    conditions: new Conditions(davRequest, services),
    sender: uploaderOf(request),
    durationMs: readTimeout(request.headers.get("timeout")),
  };
  const body = await readXml(request);
  if (body === undefined) return lockedResponse(services, call, await refresh(services, call));
  const requested = { ...readLockInfo(body), isDeep: readDepth(request.headers.get("depth")) };
  try {
    const made = (await lockItem(services, call, requested)) ?? (await lockFreeName(services, call, requested));
    return lockedResponse(services, call, made, { "Lock-Token": `<${made.lock.token}>` });
  } catch (error) {
    if (error instanceof LockConflict && error.below !== undefined) return conflictResponse(call, error.below);
    throw error;
  }
}

/** RFC 4918, section 9.10.2. */
async function refresh({ writer, clientTree, locks }: WebDavServices, call: LockCall): Promise<Locked> {
  const { davRequest, address, conditions, sender, durationMs } = call;
  const { principal, request } = davRequest;
  if (!request.headers.has("if")) {
    throw new WebDavError(
      400,
      say`LOCK needs a body that describes the lock, or a header If with the lock to refresh.`,
    );
  }
  return writer.run((tx) => {
    sender.confirm();
    const resource = clientTree.find(principal, address);
    if (resource.kind !== "item") throw notThere();
    requireWrite(resource);
    conditions.check(resource);
    const { node, share } = resource;
    const lock = locks.refresh(tx, principal.user, node, conditions.lockTokens, durationMs);
    return { lock, node, isShared: share !== undefined, isNewFile: false };
  });
}

/** Locks what is at the address; undefined if its name is free. */
async function lockItem(
  services: WebDavServices,
  call: LockCall,
  requested: RequestedLock,
): Promise<Locked | undefined> {
  const { writer, clientTree, permissions } = services;
  const { davRequest, address, conditions, sender } = call;
  return writer.run((tx) => {
    sender.confirm();
    const resource = clientTree.find(davRequest.principal, address);
    if (resource.kind === "missing_parent") throw missingFolder();
    if (resource.kind === "shares") throw new WebDavError(403, say`This folder can't be locked.`);
    if (resource.kind === "free") return undefined;
    requireWrite(resource);
    permissions.node(davRequest.principal.user, resource.node.publicId, "write");
    conditions.check(resource);
    // The token of the lock would prove later that the client knows the file.
    conditions.checkForm(resource, address);
    const { node, share } = resource;
    if (node.parentId === null && requested.isDeep !== false) {
      throw new WebDavError(403, say`You can't lock all files of an account. Lock a folder or a file.`);
    }
    return {
      lock: addLock(services, call, tx, node, requested),
      node,
      isShared: share !== undefined,
      isNewFile: false,
    };
  });
}

/** Locks a new file, or the one that another request made in the meantime. */
async function lockFreeName(services: WebDavServices, call: LockCall, requested: RequestedLock): Promise<Locked> {
  try {
    return await lockNewFile(services, call, requested);
  } catch (error) {
    const isTaken = error instanceof AppError && error.reason === "name_taken";
    const locked = isTaken ? await lockItem(services, call, requested) : undefined;
    if (locked === undefined) throw error;
    return locked;
  }
}

/** Makes an empty file with a lock, in one transaction (RFC 4918, section 9.10.4). */
async function lockNewFile(services: WebDavServices, call: LockCall, requested: RequestedLock): Promise<Locked> {
  const { files, clientTree, contentWriter } = services;
  const { davRequest, address, conditions, sender } = call;
  const findFree = (): { readonly parent: FolderItem; readonly name: string } => {
    const resource = clientTree.find(davRequest.principal, address);
    if (resource.kind === "item")
      throw new AppError("name_taken", say`A file or folder with this name was just created. Try again.`);
    if (resource.kind !== "free") throw missingFolder();
    const { parent, name } = resource;
    if (parent.kind === "shares") throw sharesOnly();
    requireWrite(parent);
    contentWriter.checkName(name);
    conditions.check(resource);
    return { parent, name };
  };
  const { parent, name } = findFree();
  const { share, path: folderPath } = locationOf(parent);
  const pendingUpload = files.beginUpload(parent.owner, 0, { isForm: false, key: null });
  let made: Lock | undefined;
  const { file: node } = await files.finishUpload(
    { ...sender, user: { ...sender.user, lockTokens: conditions.lockTokens } },
    pendingUpload,
    { fileName: name, declaredType: undefined },
    { ...NO_LABELS, folderPath, onConflict: "error" },
    {
      share,
      before: () => {
        if (findFree().parent.node.id !== parent.node.id)
          throw new WebDavError(409, say`The folder was moved. Try again.`);
      },
      onDone: (tx: Transaction, file: FileNode) => {
        made = addLock(services, call, tx, file, requested);
      },
    },
  );
  invariant(made !== undefined, "a stored file is locked in its transaction");
  noteTarget(davRequest, parent.owner, node);
  noteAudit(davRequest.request, { isNotDone: false });
  return { lock: made, node, isShared: share !== undefined, isNewFile: true };
}

const NO_LABELS = {
  tags: [],
  metadata: {},
  isPublic: false,
  capturedAt: undefined,
  fileModifiedAt: undefined,
  checksum: undefined,
} as const;

/** The names that lead from a folder to a locked item in it. */
interface LockedBelow {
  readonly names: readonly string[];
  readonly isFolder: boolean;
}

/** Another lock prevents this one (RFC 4918, section 9.10.5). */
class LockConflict extends WebDavError {
  /** The item below the requested folder that has the other lock; undefined if it is not below. */
  readonly below: LockedBelow | undefined;

  constructor(text: Message, below: LockedBelow | undefined) {
    super(423, text, "no-conflicting-lock");
    this.below = below;
  }
}

/** @throws LockConflict */
function addLock(
  { locks, tree }: WebDavServices,
  { davRequest, durationMs }: LockCall,
  tx: Transaction,
  node: TreeNode,
  { isExclusive, ownerXml, isDeep = node.kind === "folder" }: RequestedLock,
): Lock {
  const { user, appPassword } = davRequest.principal;
  const request = { createdBy: user.id, program: appPassword.name, ownerXml, isExclusive, isDeep, durationMs };
  try {
    return locks.lock(tx, node, request);
  } catch (error) {
    if (!(error instanceof AppError) || error.reason !== "locked") throw error;
    const { nodeId } = error.details;
    const other = typeof nodeId === "string" ? tree.findNode(node.accountId, nodeId) : undefined;
    const names = other === undefined || other.id === node.id ? undefined : namesBelow(node, other);
    throw new LockConflict(error.text, names && { names, isFolder: other?.kind === "folder" });
  }
}

function lockedResponse(
  { tree, clock }: WebDavServices,
  { davRequest, address }: LockCall,
  { node, isShared, isNewFile }: Locked,
  headers: Record<string, string> = {},
): Response {
  const href = hrefOf(davRequest.request, address, node.kind === "folder");
  const locks = tree.locks.on([node]).get(node.id) ?? [];
  const levels = address.names.length - (isShared ? SHARE_LEVELS : 0);
  const discovery = lockDiscovery(locks, href, levels, clock.nowMs());
  return new Response(
    `<?xml version="1.0" encoding="utf-8"?>\n<d:prop xmlns:d="DAV:"><d:lockdiscovery>${discovery}</d:lockdiscovery></d:prop>`,
    { status: isNewFile ? 201 : 200, headers: { "Content-Type": "application/xml; charset=utf-8", ...headers } },
  );
}

/** The names that lead to the top of a received share: "Shared with me", and its own. */
const SHARE_LEVELS = 2;

/** RFC 4918, section 9.10.9: the item that prevents the lock, and the folder that was requested. */
function conflictResponse({ davRequest, address }: LockCall, below: LockedBelow): Response {
  const response = ({ names, isFolder }: LockedBelow, status: string) => {
    const { root, writtenNames } = address;
    const href = hrefOf(davRequest.request, { root, writtenNames: [...writtenNames, ...names] }, isFolder);
    return `<d:response><d:href>${escapeXml(href)}</d:href><d:status>HTTP/1.1 ${status}</d:status></d:response>`;
  };
  const conflict = response(below, "423 Locked");
  const folder = response({ names: [], isFolder: true }, "424 Failed Dependency");
  return multistatusResponse(MULTISTATUS_START + conflict + folder + MULTISTATUS_END);
}

/** The header Timeout (RFC 4918, section 10.7): the first of its values that is understood. */
function readTimeout(header: string | null): number {
  for (const value of (header ?? "").split(",")) {
    const seconds = /^second-(\d{1,10})$/i.exec(value.trim())?.[1];
    if (seconds !== undefined) return Number(seconds) * 1000;
  }
  return LOCK_MS_MAX;
}

/** @throws WebDavError 400 */
function readDepth(header: string | null): boolean | undefined {
  if (header === null) return undefined;
  const depth = header.trim().toLowerCase();
  if (depth === "infinity") return true;
  if (depth === "0") return false;
  throw new WebDavError(400, say`The header Depth of LOCK must be 0 or infinity.`);
}
