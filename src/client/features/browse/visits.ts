/** Scroll positions and cursors of lists by history entry, so that going back restores them. */

/** The saved state of a list. */
export interface Visit {
  readonly offset: number;
  readonly cursor: number;
}

const visits = new Map<string, Visit>();
/** The most history entries to remember. */
const VISITS_MAX = 200;

/** The saved state at a history entry; undefined for a new one. */
export function recallVisit(step: string): Visit | undefined {
  return visits.get(step);
}

/** Saves the state of a list. */
export function saveVisit(step: string, change: Partial<Visit>): void {
  const visit = { offset: 0, cursor: 0, ...recallVisit(step), ...change };
  visits.delete(step);
  visits.set(step, visit);
  const [oldest] = visits.keys();
  if (visits.size > VISITS_MAX && oldest !== undefined) visits.delete(oldest);
}
