import { outsideRequests } from "./async-context.ts";

/** Remembers what `read` returns until the end of this turn of the event loop. So the requests of a turn share it. */
export function oncePerTurn<T>(read: () => T): () => T {
  let latest: { readonly value: T } | undefined;
  const forget = () => {
    latest = undefined;
  };
  return () => {
    if (latest === undefined) {
      latest = { value: read() };
      outsideRequests(() => setImmediate(forget));
    }
    return latest.value;
  };
}
