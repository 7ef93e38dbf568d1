import { Suspense, useEffect } from "react";
import { type ProofRequest, setProofGate } from "../api/http.ts";
import { lazyPart } from "../ui/lazy-part.ts";
import { createStore, useStore } from "../base/store.ts";

interface PendingProof extends ProofRequest {
  readonly promise: Promise<boolean>;
  readonly resolve: (isConfirmed: boolean) => void;
}

const ProofDialog = lazyPart(() => import("../features/proof/proof-dialog.tsx").then((part) => part.ProofDialog));
const pending = createStore<PendingProof | undefined>(undefined);

/** Where the person is asked to show that it is them, above the page; once in it. What was asked for continues then. */
export function ProofHost() {
  const request = useStore(pending);
  useEffect(() => {
    setProofGate(askForProof);
    return () => setProofGate(undefined);
  }, []);
  if (request === undefined) return null;
  return (
    <Suspense fallback={null}>
      <ProofDialog proof={request} onDone={request.resolve} />
    </Suspense>
  );
}

/** One question for all requests that were refused together. */
function askForProof(proof: ProofRequest): Promise<boolean> {
  const open = pending.get();
  if (open !== undefined) return open.promise;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const answer = (isConfirmed: boolean): void => {
    pending.set(undefined);
    resolve(isConfirmed);
  };
  pending.set({ ...proof, promise, resolve: answer });
  return promise;
}
