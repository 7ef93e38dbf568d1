import { Suspense, useEffect } from "react";
import { type ProofAsked, setProofGate } from "../api/http.ts";
import { lazyPart } from "../ui/lazy-part.ts";
import { createStore, useStore } from "../base/store.ts";

interface Pending extends ProofAsked {
  readonly promise: Promise<boolean>;
  readonly answer: (isConfirmed: boolean) => void;
}

const ProofDialog = lazyPart(() => import("../features/proof/proof-dialog.tsx").then((part) => part.ProofDialog));
const pending = createStore<Pending | undefined>(undefined);

/** Where the person is asked to show that it is them, above the page; once in it. What was asked for continues then. */
export function ProofHost() {
  const asked = useStore(pending);
  useEffect(() => {
    setProofGate(ask);
    return () => setProofGate(undefined);
  }, []);
  if (asked === undefined) return null;
  return (
    <Suspense fallback={null}>
      <ProofDialog asked={asked} onDone={asked.answer} />
    </Suspense>
  );
}

/** One question for all requests that were refused together. */
function ask(proof: ProofAsked): Promise<boolean> {
  const open = pending.get();
  if (open !== undefined) return open.promise;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const answer = (isConfirmed: boolean): void => {
    pending.set(undefined);
    resolve(isConfirmed);
  };
  pending.set({ ...proof, promise, answer });
  return promise;
}
