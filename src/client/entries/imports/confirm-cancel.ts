import { confirmThen } from "../../ui/confirm.tsx";
import { text } from "./text.ts";

/** Asks whether to end an import. */
export function confirmCancel(cancel: () => void): void {
  const question = {
    title: text.cancelTitle,
    body: text.cancelBody,
    action: text.cancel,
    cancel: text.keepGoing,
    danger: true,
  };
  confirmThen(question, cancel);
}
