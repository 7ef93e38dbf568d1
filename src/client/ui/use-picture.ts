import { useEffect, useState } from "react";

/** When to request an image again that failed to load: the server may still be rendering it, or was not reached. */
const RETRY_AFTER_MS = [3_000, 10_000, 30_000];

interface Attempt {
  readonly address: string;
  readonly number: number;
  readonly hasFailed: boolean;
}

/**
 * An image that is requested again a few times if it fails to load. A new address starts over.
 * @param address with a query string
 * @returns the attributes of the `img`, and whether to show a placeholder for now
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
