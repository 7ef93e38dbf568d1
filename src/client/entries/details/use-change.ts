import { useMutation, useQueryClient } from "@tanstack/react-query";
import { invalidateTree } from "../../api/queries.ts";
import { toast, showError } from "../../ui/toast.tsx";

/** A change to the details of an entry: shows an error if it fails, and refreshes everything that shows the entry. */
export function useChange<T>(change: (value: T) => Promise<void>, done?: string) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: async () => {
      if (done !== undefined) toast({ text: done });
      await invalidateTree(queryClient);
    },
    onError: showError,
  });
}
