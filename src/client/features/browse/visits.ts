/** Where lists were left, by the step of the browser's history: going back finds them as they were. */

/** What a list is shown again with. */
export interface Visit {
  readonly offset: number;
  readonly cursor: number;
}

const visits = new Map<string, Visit>();
/** Far more steps than anybody goes back. */
const VISITS_MAX = 200;

/** Where a list was left at a step; undefined for one that is new. */
export function recallVisit(step: string): Visit | undefined {
  return visits.get(step);
}

/** Notes where a list is. */
export function saveVisit(step: string, change: Partial<Visit>): void {
  const visit = { offset: 0, cursor: 0, ...recallVisit(step), ...change };
  visits.delete(step);
  visits.set(step, visit);
  const [oldest] = visits.keys();
  if (visits.size > VISITS_MAX && oldest !== undefined) visits.delete(oldest);
}
