/** Scroll positions and cursors of lists by history entry, so that going back restores them. */

/** The saved state of a list. */
export interface ListState {
  readonly offset: number;
  readonly cursor: number;
}

const listStates = new Map<string, ListState>();
/** The most history entries to remember. */
const LIST_STATES_MAX = 200;

/** The saved state at a history entry; undefined for a new one. */
export function findListState(historyKey: string): ListState | undefined {
  return listStates.get(historyKey);
}

/** Saves the state of a list. */
export function saveListState(historyKey: string, change: Partial<ListState>): void {
  const state = { offset: 0, cursor: 0, ...findListState(historyKey), ...change };
  listStates.delete(historyKey);
  listStates.set(historyKey, state);
  const [oldest] = listStates.keys();
  if (listStates.size > LIST_STATES_MAX && oldest !== undefined) listStates.delete(oldest);
}
