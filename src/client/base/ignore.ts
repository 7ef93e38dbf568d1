/** Does nothing: for a promise whose error is handled elsewhere, and for listeners that are not needed. */
export function ignore(): void {
  return;
}
