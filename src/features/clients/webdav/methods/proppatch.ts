import type { Transaction } from "../../../../db/transaction.ts";
import { AppError } from "../../../../errors.ts";
import { noteAudit } from "../../../../http/audit-note.ts";
import { say } from "../../../../translations/say.ts";
import { uploaderOf } from "../../../accounts/auth/guard.ts";
import type { AppPasswordPrincipal } from "../../../accounts/auth/principal.ts";
import type { User } from "../../../accounts/users/types.ts";
import { notThere, WebDavError } from "../../errors.ts";
import { type Item, requireWrite } from "../client-tree.ts";
import { Conditions, refreshEtags } from "../conditions.ts";
import { addressOf, type DavRequest, hrefOf, noteTarget } from "../dav-request.ts";
import { MULTISTATUS_END, MULTISTATUS_START, multistatusResponse, propstat } from "../multistatus.ts";
import { emptyElement } from "../properties/live-properties.ts";
import { type Instruction, PropertyUpdate } from "../properties/property-update.ts";
import type { WebDavServices } from "../services.ts";
import { readXml } from "../xml-requests.ts";

/** The status of an instruction, and what it violates. */
interface Outcome {
  readonly status: string;
  readonly condition?: string;
}

const DONE: Outcome = { status: "200 OK" };
/** Nothing was changed, because of another instruction. */
const NOT_DONE: Outcome = { status: "424 Failed Dependency" };
const TOO_MUCH: Outcome = { status: "507 Insufficient Storage" };
const REJECTIONS: Partial<Record<Instruction["effect"]["kind"], Outcome>> = {
  protected: { status: "403 Forbidden", condition: "<d:cannot-modify-protected-property/>" },
  invalid: { status: "409 Conflict" },
};

/** PROPPATCH: sets and removes properties of an item, all of them or none (RFC 4918, section 9.2). */
export async function proppatch(services: WebDavServices, davRequest: DavRequest): Promise<Response> {
  const { request } = davRequest;
  const address = addressOf(request);
  const conditions = new Conditions(davRequest, services);
  const { confirm } = uploaderOf(request);
  const update = new PropertyUpdate(await readXml(request));
  await refreshEtags(davRequest, services);
  const user = { ...davRequest.principal.user, lockTokens: conditions.lockTokens };
  const find = (): Item => {
    const resource = services.clientTree.find(davRequest.principal, address);
    if (resource.kind === "shares") throw new WebDavError(403, say`This folder can't be changed.`);
    if (resource.kind !== "item") throw notThere();
    requirePermission(services, davRequest.principal, resource, update);
    conditions.check(resource);
    return resource;
  };
  const { node, owner } = find();
  const { kind } = node;
  noteTarget(davRequest, owner, node);
  const instructions = update.instructionsFor(kind);
  // Marks change nothing in the item.
  if (instructions.every(isMark)) noteAudit(request, { isNotDone: true });
  const href = hrefOf(request, address, kind === "folder");
  const respond = (outcomes: readonly Outcome[]) =>
    multistatusResponse(
      `${MULTISTATUS_START}<d:response><d:href>${href}</d:href>${propstats(instructions, outcomes)}</d:response>${MULTISTATUS_END}`,
    );
  if (instructions.some(isRejected)) {
    noteAudit(request, { isNotDone: true });
    return respond(instructions.map(({ effect }) => REJECTIONS[effect.kind] ?? NOT_DONE));
  }
  try {
    await services.writer.run((tx) => {
      confirm();
      const item = find();
      if (item.node.kind !== kind) throw notThere();
      apply(services, tx, user, item, instructions);
    });
  } catch (error) {
    // Only the bytes of stored properties and the number of favorites are limited here.
    if (!(error instanceof AppError) || error.reason !== "quota_exceeded") throw error;
    noteAudit(request, { isNotDone: true });
    return respond(instructions.map((instruction) => (isStored(instruction) ? TOO_MUCH : NOT_DONE)));
  }
  return respond(instructions.map(() => DONE));
}

function apply(
  { userTreeWriter, treeWriter, clientTree, favorites }: WebDavServices,
  tx: Transaction,
  user: User,
  { node, owner, share }: Item,
  instructions: readonly Instruction[],
): void {
  const changes = instructions.flatMap(({ effect }) => (effect.kind === "store" ? [effect.change] : []));
  const date = instructions.findLast(({ effect }) => effect.kind === "date")?.effect;
  const mark = instructions.findLast(({ effect }) => effect.kind === "favorite")?.effect;
  userTreeWriter.write(user, { owner, isOwn: share === undefined, view: clientTree.viewOf(share) }, () => {
    if (changes.length > 0) treeWriter.changeProperties(tx, node, changes);
    if (date?.kind === "date") treeWriter.updateFile(tx, node, { fileModifiedAt: date.fileModifiedAt });
  });
  if (mark?.kind === "favorite") favorites.set(tx, user, node, mark.isFavorite);
}

/** Marks are the user's own: they need no permission to change the item, nor its lock. */
function requirePermission(
  { permissions }: WebDavServices,
  { user, appPassword }: AppPasswordPrincipal,
  item: Item,
  update: PropertyUpdate,
): void {
  const isMarkOnly = update.instructionsFor(item.node.kind).every(isMark);
  requireWrite(isMarkOnly ? { ...item, canWrite: appPassword.canWrite, share: undefined } : item);
  permissions.node(user, item.node.publicId, isMarkOnly ? "read" : "write");
}

function isRejected({ effect }: Instruction): boolean {
  return REJECTIONS[effect.kind] !== undefined;
}

function isMark({ effect }: Instruction): boolean {
  return effect.kind === "favorite";
}

function isStored({ effect }: Instruction): boolean {
  if (effect.kind === "favorite") return effect.isFavorite;
  return effect.kind === "store" && effect.change.value !== null;
}

/** Instructions with the same outcome share an element. */
function propstats(instructions: readonly Instruction[], outcomes: readonly Outcome[]): string {
  const groups = new Map<Outcome, Set<string>>();
  for (const [index, outcome] of outcomes.entries()) {
    const instruction = instructions[index];
    if (instruction === undefined) continue;
    const elements = groups.get(outcome) ?? new Set();
    groups.set(outcome, elements.add(emptyElement(instruction)));
  }
  return [...groups]
    .map(([{ status, condition }, elements]) => propstat([...elements].join(""), status, condition))
    .join("");
}
