import { useMutation, useQueryClient } from "@tanstack/react-query";
import { messageOf } from "../../api/http.ts";
import { toast } from "../../ui/toast.tsx";

/**
 * A change by an administrator. Afterwards all administration queries are fetched again.
 * @param after called with the result, before the queries are fetched
 * @param onError called on failure; by default shows a message at the edge of the page
 */
export function useAction<Input = void, Result = unknown>(
  action: (input: Input) => Promise<Result>,
  after?: (result: Result, input: Input) => void,
  onError: (error: unknown) => void = showError,
) {
  const queryClient = useQueryClient();
  return useMutation<Result, unknown, Input>({
    mutationFn: action,
    onError,
    onSuccess: async (result, input) => {
      after?.(result, input);
      await queryClient.invalidateQueries({ queryKey: ["admin"] });
    },
  });
}

/** For dialogs, which show errors themselves. */
export function showNothing(): void {
  return;
}

function showError(error: unknown): void {
  toast({ text: messageOf(error), tone: "danger" });
}
