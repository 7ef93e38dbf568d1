/**
 * What becomes of one node when a device is rewound. The device's changes are followed from the first one on, each
 * aspect (place, labels, content) by itself: where a change did not find what the one before had left, or the last
 * one's result is not what is there now, somebody else changed that aspect in between, and it is left as it is.
 */
import { type FormerLocation, fingerprint, type Labels, labelsOf, locationOf } from "../../../tree/tables/undo.ts";
import type { TreeNode } from "../../../tree/model/types.ts";
import type { NodePlan, UndoEntry } from "./types.ts";

/** One aspect of a node through the changes of a device. */
interface Aspect<T> {
  /** Before the first change; undefined where that made the node, or where nothing touched it. */
  from: T | undefined;
  isTouched: boolean;
  /** As the last change left it, in a form that can be compared. */
  left: string | undefined;
  isByOthers: boolean;
}

/**
 * Decides about a node.
 * @param entries the device's changes of it since the instant, the oldest first, at least one; those of a node that was
 *   made in its place follow
 * @param current the node as it is, or the one made in its place; undefined where there is none
 */
export function planNode(entries: readonly UndoEntry[], current: TreeNode | undefined): NodePlan {
  const place = emptyAspect<FormerLocation>();
  const labels = emptyAspect<Labels>();
  const content = emptyAspect<number>();
  let deletion: UndoEntry | undefined;
  for (const entry of entries) {
    const { placeFrom, placeTo, labelsFrom, labelsTo, contentFrom, contentTo } = entry;
    follow(place, placeFrom, placeFrom && placeKey(placeFrom), placeTo && placeKey(placeTo));
    follow(labels, labelsFrom, labelsFrom && fingerprint(labelsFrom), labelsTo);
    follow(content, contentFrom, contentFrom?.toString(), contentTo?.toString());
    if (entry.what === "delete" || entry.what === "reap") deletion = entry;
    else if (entry.what === "restore") deletion = undefined;
  }
  const isMade = entries[0]?.what === "create";
  if (deletion !== undefined) return planRestore(deletion, isMade, place, labels, content);
  if (current === undefined) return isMade ? { kind: "nothing" } : { kind: "skip", reason: "deleted_by_others" };
  compare(place, current.parentId === null ? undefined : placeKey(locationOf(current)));
  compare(labels, fingerprint(labelsOf(current)));
  compare(content, current.kind === "file" ? current.version.toString() : undefined);
  const isTouchedByOthers = place.isByOthers || labels.isByOthers || content.isByOthers;
  if (isMade) return isTouchedByOthers ? { kind: "skip", reason: "changed_by_others" } : { kind: "remove" };
  const change = {
    ...wanted("place", place, (from) => placeKey(from)),
    ...wanted("labels", labels, (from) => fingerprint(from)),
    ...wanted("version", content, (from) => from.toString()),
  };
  if (Object.keys(change).length > 0) return { kind: "change", ...change, isPartial: isTouchedByOthers };
  return isTouchedByOthers ? { kind: "skip", reason: "changed_by_others" } : { kind: "nothing" };
}

/**
 * What the device deleted comes back as it was before its first change; what others did to it meanwhile stays in it.
 */
function planRestore(
  deletion: UndoEntry,
  isMade: boolean,
  place: Aspect<FormerLocation>,
  labels: Aspect<Labels>,
  content: Aspect<number>,
): NodePlan {
  const isTouchedByOthers = place.isByOthers || labels.isByOthers || content.isByOthers;
  if (isMade && !isTouchedByOthers) return { kind: "nothing" };
  const { placeFrom, labelsFrom, contentFrom } = deletion;
  if (placeFrom === undefined || labelsFrom === undefined) return { kind: "skip", reason: "content_gone" };
  const version = before(content, contentFrom);
  return {
    kind: "restore",
    deletion,
    place: before(place, placeFrom) ?? placeFrom,
    labels: before(labels, labelsFrom) ?? labelsFrom,
    ...(version !== undefined && { version }),
  };
}

/** The state before the first change, or at the deletion where others had changed it or the device had made it. */
function before<T>(aspect: Aspect<T>, atDeletion: T): T {
  return aspect.isByOthers ? atDeletion : (aspect.from ?? atDeletion);
}

function emptyAspect<T>(): Aspect<T> {
  return { from: undefined, isTouched: false, left: undefined, isByOthers: false };
}

/** Follows one change of an aspect. @param found key of what it found, @param left key of what it left */
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

/** Compares what the last change left with what is there. */
function compare<T>(aspect: Aspect<T>, present: string | undefined): void {
  if (aspect.left !== undefined && aspect.left !== present) aspect.isByOthers = true;
}

/** What an aspect is to become again: nothing where others changed it, or where it is so already. */
function wanted<K extends string, T>(name: K, aspect: Aspect<T>, keyOf: (from: T) => string): { [P in K]?: T } {
  const { from, isByOthers, left } = aspect;
  if (from === undefined || isByOthers || keyOf(from) === left) return {};
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an object with one computed key
  return { [name]: from } as { [P in K]?: T };
}

function placeKey({ parentId, name }: { readonly parentId: number; readonly name: string }): string {
  return `${parentId}/${name}`;
}
