import { useMutation, useQueryClient } from "@tanstack/react-query";
import { messageOf } from "../../api/http.ts";
import { invalidateTree } from "../../api/queries.ts";
import { toast } from "../../ui/toast.tsx";

/** Something that is noted about an entry: tells when it failed, and has all that shows the entry asked again. */
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
