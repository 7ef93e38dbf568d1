/** Resolves in a new task, so that the browser can paint and handle input in between. */
export async function nextTask(): Promise<void> {
  // Not every browser supports it. A timer also works, but runs later.
  if ("scheduler" in globalThis && "yield" in scheduler) await scheduler.yield();
  else await new Promise((resolve) => setTimeout(resolve, 0));
}
