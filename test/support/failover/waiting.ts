// Waits for something that a server does in the background.

const POLL_MS = 50;

/**
 * Waits until `find` returns something.
 * @param what named in the error
 * @throws Error after this time
 */
export async function expectEventually<T>(what: string, msMax: number, find: () => Promise<T | undefined>): Promise<T> {
  const endMs = performance.now() + msMax;
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    if (performance.now() > endMs) throw new Error(`still waiting for: ${what}`);
    await Bun.sleep(POLL_MS);
  }
}
