/**
 * Returns a function that calls `make` once, at its first call, and then always returns the same value. A promise that
 * rejects is forgotten, and the next call makes another: a module may fail to load only while descriptors or memory are
 * short.
 */
export function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  const forget = () => {
    made = undefined;
  };
  return () => {
    if (made !== undefined) return made.value;
    made = { value: make() };
    if (made.value instanceof Promise) made.value.catch(forget);
    return made.value;
  };
}
