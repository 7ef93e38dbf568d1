/** A copy of a set with a value added, or removed. */
export function withMember<T>(set: ReadonlySet<T>, value: T, isMember: boolean): Set<T> {
  const changed = new Set(set);
  if (isMember) changed.add(value);
  else changed.delete(value);
  return changed;
}
