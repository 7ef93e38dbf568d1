/** How long a thread may take to end. A statement of the database is not interrupted. */
const ENDING_MS_MAX = 2_000;

/** Ends a thread. Resolves once it has closed its files, or after two seconds. */
export function endThread(worker: Pick<Worker, "addEventListener" | "terminate">): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ENDING_MS_MAX);
  worker.addEventListener("close", () => {
    clearTimeout(timer);
    resolve();
  });
  worker.terminate();
  return promise;
}
