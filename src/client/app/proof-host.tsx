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

/**
 * Shows the dialog in which the person confirms their identity. Rendered once in the page. The waiting request
 * continues afterwards.
 */
export function ProofHost() {
  const request = useStore(pending);
  useEffect(() => {
    setProofGate(requestProof);
    return () => setProofGate(undefined);
  }, []);
  if (request === undefined) return null;
  return (
    <Suspense fallback={null}>
      <ProofDialog proof={request} onDone={request.resolve} />
    </Suspense>
  );
}

/** Opens one dialog for all requests that are waiting for confirmation. */
function requestProof(proof: ProofRequest): Promise<boolean> {
  const open = pending.get();
  if (open !== undefined) return open.promise;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const settle = (isConfirmed: boolean): void => {
    pending.set(undefined);
    resolve(isConfirmed);
  };
  pending.set({ ...proof, promise, resolve: settle });
  return promise;
}
