/**
 * Plans the rewind of one node. The device's changes are followed from the first one, separately for each aspect
 * (location, labels, content, date). If a change did not find what the previous one left, or the last result is not the
 * current state, someone else changed that aspect in between, and it stays as it is.
 */
import { type FormerLocation, fingerprint, type Labels, labelsOf, locationOf } from "../../../tree/tables/undo.ts";
import type { TreeNode } from "../../../tree/model/types.ts";
import type { NodePlan, UndoEntry } from "./types.ts";

/** The history of one aspect of a node through the changes of a device. */
interface Aspect<T> {
  /** The state before the first change; undefined if that created the node, or if no change touched the aspect. */
  from: T | undefined;
  isTouched: boolean;
  /** The state after the last change, as a comparable key. */
  left: string | undefined;
  isByOthers: boolean;
}

/** The aspects of a node. */
interface Aspects {
  readonly location: Aspect<FormerLocation>;
  readonly labels: Aspect<Labels>;
  readonly content: Aspect<number>;
  /** Null for a file without a date of its own. */
  readonly date: Aspect<string | null>;
}

/**
 * Plans the rewind of a node.
 * @param entries the device's changes to it since the given time, the oldest first, at least one; then those of the node
 *   that replaced it
 * @param current the current node, or the one that replaced it; undefined if there is none
 */
export function planNode(entries: readonly UndoEntry[], current: TreeNode | undefined): NodePlan {
  const location = emptyAspect<FormerLocation>();
  const labels = emptyAspect<Labels>();
  const content = emptyAspect<number>();
  const date = emptyAspect<string | null>();
  let deletion: UndoEntry | undefined;
  for (const entry of entries) {
    const { placeFrom, placeTo, labelsFrom, labelsTo, contentFrom, contentTo, dateFrom, dateTo } = entry;
    follow(location, placeFrom, placeFrom && locationKey(placeFrom), placeTo && locationKey(placeTo));
    follow(labels, labelsFrom, labelsFrom && fingerprint(labelsFrom), labelsTo);
    follow(content, contentFrom, contentFrom?.toString(), contentTo?.toString());
    follow(date, dateFrom, dateKey(dateFrom), dateKey(dateTo));
    if (entry.what === "delete" || entry.what === "reap") deletion = entry;
    else if (entry.what === "restore") deletion = undefined;
  }
  const isMade = entries[0]?.what === "create";
  if (deletion !== undefined) return planRestore(deletion, isMade, { location, labels, content, date });
  if (current === undefined) return isMade ? { kind: "nothing" } : { kind: "skip", reason: "deleted_by_others" };
  compare(location, current.parentId === null ? undefined : locationKey(locationOf(current)));
  compare(labels, fingerprint(labelsOf(current)));
  compare(content, current.kind === "file" ? current.version.toString() : undefined);
  compare(date, current.kind === "file" ? dateKey(current.fileModifiedAt) : undefined);
  const isTouchedByOthers = [location, labels, content, date].some(({ isByOthers }) => isByOthers);
  if (isMade) return isTouchedByOthers ? { kind: "skip", reason: "changed_by_others" } : { kind: "remove" };
  const change = {
    ...stateToRestore("location", location, (from) => locationKey(from)),
    ...stateToRestore("labels", labels, (from) => fingerprint(from)),
    ...stateToRestore("version", content, (from) => from.toString()),
    // Restoring a content drops the date, so it is restored even if the device left it the same.
    ...stateToRestore("fileModifiedAt", content.isTouched ? { ...date, left: undefined } : date, dateKey),
  };
  if (Object.keys(change).length > 0) return { kind: "change", ...change, isPartial: isTouchedByOthers };
  return isTouchedByOthers ? { kind: "skip", reason: "changed_by_others" } : { kind: "nothing" };
}

/**
 * A node that the device deleted is restored as it was before the device's first change, with changes by others in
 * between.
 */
function planRestore(deletion: UndoEntry, isMade: boolean, { location, labels, content, date }: Aspects): NodePlan {
  const isTouchedByOthers = [location, labels, content, date].some(({ isByOthers }) => isByOthers);
  if (isMade && !isTouchedByOthers) return { kind: "nothing" };
  const { placeFrom, labelsFrom, contentFrom } = deletion;
  if (placeFrom === undefined || labelsFrom === undefined) return { kind: "skip", reason: "content_gone" };
  const version = before(content, contentFrom);
  return {
    kind: "restore",
    deletion,
    location: before(location, placeFrom) ?? placeFrom,
    labels: before(labels, labelsFrom) ?? labelsFrom,
    ...(version !== undefined && { version }),
    ...(deletion.file !== undefined && { fileModifiedAt: before(date, deletion.file.fileModifiedAt) }),
  };
}

/** The state before the first change; at the deletion, if others changed the node or the device created it. */
function before<T>(aspect: Aspect<T>, atDeletion: T): T {
  return aspect.isByOthers || aspect.from === undefined ? atDeletion : aspect.from;
}

function emptyAspect<T>(): Aspect<T> {
  return { from: undefined, isTouched: false, left: undefined, isByOthers: false };
}

/** Follows one change of an aspect. @param found key of the state before it @param left key of the state after it */
function follow<T>(aspect: Aspect<T>, from: T | undefined, found: string | undefined, left: string | undefined): void {
  if (from === undefined && left === undefined) return;
  if (!aspect.isTouched) {
    aspect.isTouched = true;
    aspect.from = from;
  } else if (found !== undefined && aspect.left !== undefined && found !== aspect.left) {
    aspect.isByOthers = true;
  }
  aspect.left = left;
}

/** Compares the state after the last change with the current one. */
function compare<T>(aspect: Aspect<T>, present: string | undefined): void {
  if (aspect.left !== undefined && aspect.left !== present) aspect.isByOthers = true;
}

/** The state to restore; nothing if others changed the aspect, or if it is in that state already. */
function stateToRestore<K extends string, T>(
  name: K,
  aspect: Aspect<T>,
  keyOf: (from: T) => string | undefined,
): { [P in K]?: T } {
  const { from, isByOthers, left } = aspect;
  if (from === undefined || isByOthers || keyOf(from) === left) return {};
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an object with one computed key
  return { [name]: from } as { [P in K]?: T };
}

function dateKey(date: string | null | undefined): string | undefined {
  return date === undefined ? undefined : (date ?? "none");
}

function locationKey({ parentId, name }: { readonly parentId: number; readonly name: string }): string {
  return `${parentId}/${name}`;
}
