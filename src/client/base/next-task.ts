/** Resolves in a task of its own: between two of them the browser paints, and takes clicks and keys. */
export async function nextTask(): Promise<void> {
  // Not every browser has it; a timer comes after whatever else waits, which is later, and right as well.
  if ("scheduler" in globalThis && "yield" in scheduler) await scheduler.yield();
  else await new Promise((resolve) => setTimeout(resolve, 0));
}
