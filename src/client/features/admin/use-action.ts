import { useMutation, useQueryClient } from "@tanstack/react-query";
import { messageOf } from "../../api/http.ts";
import { toast } from "../../ui/toast.tsx";

/**
 * A change that an administrator makes. Afterwards all that the administration shows is asked for anew.
 * @param after what follows; runs before anything is asked for again
 * @param onError tells of a failure; by default a message at the edge of the page
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

/** For deeds of dialogs, which show what failed where it was asked for. */
export function showNothing(): void {
  return;
}

function showError(error: unknown): void {
  toast({ text: messageOf(error), tone: "danger" });
}
