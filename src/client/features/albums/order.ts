/** The order of the files of an album. Pure. */

/**
 * The order after some files are put before another one, or at the end. They stay in the order that they have.
 * @param before null for the end
 */
export function orderAfterMove(ids: readonly string[], moved: ReadonlySet<string>, before: string | null): string[] {
  const others = ids.filter((id) => !moved.has(id));
  const at = before === null ? others.length : others.indexOf(before);
  return others.toSpliced(at < 0 ? others.length : at, 0, ...ids.filter((id) => moved.has(id)));
}

/**
 * The file that dragged ones are put before if they are dropped at an index: null for the end, undefined if that
 * changes nothing.
 */
export function dropTarget(
  ids: readonly string[],
  moved: ReadonlySet<string>,
  index: number,
): string | null | undefined {
  const target = ids.slice(index).find((id) => !moved.has(id)) ?? null;
  const after = orderAfterMove(ids, moved, target);
  return after.every((id, at) => id === ids[at]) ? undefined : target;
}

/** The files that some can be put before: null for the end, undefined if they are there already. */
export function moveTargets(ids: readonly string[], moved: ReadonlySet<string>) {
  const first = ids.findIndex((id) => moved.has(id));
  const last = ids.findLastIndex((id) => moved.has(id));
  const others = ids.filter((id) => !moved.has(id));
  const beyond = ids.slice(last + 2).find((id) => !moved.has(id));
  const isTogether = last - first === moved.size - 1;
  return {
    start: first === 0 && isTogether ? undefined : others[0],
    earlier: ids[first - 1],
    later: last >= ids.length - 1 ? undefined : (beyond ?? null),
    end: (last === ids.length - 1 && isTogether) || others.length === 0 ? undefined : null,
  };
}
