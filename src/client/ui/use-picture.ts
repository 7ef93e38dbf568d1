import { useEffect, useState } from "react";

/** When a picture that didn't come is asked for again: the server may still be making it, or was not reached. */
const RETRY_AFTER_MS = [3_000, 10_000, 30_000];

interface Attempt {
  readonly address: string;
  readonly number: number;
  readonly hasFailed: boolean;
}

/**
 * A picture that is tried again a few times where it doesn't come. Another address begins anew.
 * @param address with a query string
 * @returns what the `img` is given, and whether something else is to be shown for now
 */
export function usePicture(address: string): { src: string; hasFailed: boolean; onError: () => void } {
  const [last, setLast] = useState<Attempt>();
  const { number, hasFailed } = last?.address === address ? last : { number: 0, hasFailed: false };
  useEffect(() => {
    const afterMs = RETRY_AFTER_MS[number];
    if (!hasFailed || afterMs === undefined) return;
    const timer = setTimeout(() => setLast({ address, number: number + 1, hasFailed: false }), afterMs);
    return () => clearTimeout(timer);
  }, [address, number, hasFailed]);
  return {
    src: number === 0 ? address : `${address}&attempt=${number}`,
    hasFailed,
    onError: () => setLast({ address, number, hasFailed: true }),
  };
}
