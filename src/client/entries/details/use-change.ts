import { useMutation, useQueryClient } from "@tanstack/react-query";
import { messageOf } from "../../api/http.ts";
import { invalidateTree } from "../../api/queries.ts";
import { toast } from "../../ui/toast.tsx";

/** A change to the details of an entry: shows an error if it fails, and refreshes everything that shows the entry. */
export function useChange<T>(change: (value: T) => Promise<void>, done?: string) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: async () => {
      if (done !== undefined) toast({ text: done });
      await invalidateTree(queryClient);
    },
    onError: (error) => toast({ text: messageOf(error), tone: "danger" }),
  });
}
