/**
 * Checks a condition that must always be true. A failure is a defect of the program or damaged data, never bad input.
 * It ends the request with 500 and is logged.
 */
export function invariant(condition: unknown, whatMustHold: string): asserts condition {
  if (!condition) throw new Error(`Invariant broken: ${whatMustHold}`);
}
