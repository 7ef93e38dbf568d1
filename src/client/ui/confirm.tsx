import { type ReactNode, useRef } from "react";
import { createStore, useStore } from "../base/store.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { uiText } from "./text.ts";

/** The content of a confirmation dialog. */
export interface Question {
  readonly title: string;
  readonly body?: ReactNode;
  /** The label of the confirming button: a verb. */
  readonly action: string;
  readonly cancel?: string;
  readonly danger?: boolean;
}

interface PendingQuestion extends Question {
  readonly resolve: (isYes: boolean) => void;
}

const pending = createStore<{ question: PendingQuestion | undefined; isOpen: boolean }>({
  question: undefined,
  isOpen: false,
});

/**
 * Asks the person for confirmation.
 * @returns whether they confirmed
 */
export function confirm(question: Question): Promise<boolean> {
  pending.get().question?.resolve(false);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  pending.set({ question: { ...question, resolve: resolve }, isOpen: true });
  return promise;
}

/** {@link confirm} as a hook. */
export function useConfirm(): (question: Question) => Promise<boolean> {
  return confirm;
}

/** Renders the confirmation dialog; once in the page. */
export function ConfirmHost() {
  const { question, isOpen } = useStore(pending);
  const cancel = useRef<HTMLButtonElement>(null);
  if (question === undefined) return null;
  const close = (isYes: boolean) => {
    question.resolve(isYes);
    pending.set({ question, isOpen: false });
  };
  return (
    <Dialog
      open={isOpen}
      role="alertdialog"
      onClose={() => close(false)}
      title={question.title}
      initialFocus={cancel}
      hasClose={false}
      footer={
        <>
          <Button ref={cancel} onClick={() => close(false)}>
            {question.cancel ?? uiText.cancel}
          </Button>
          <Button variant={question.danger === true ? "danger" : "primary"} onClick={() => close(true)}>
            {question.action}
          </Button>
        </>
      }
    >
      {question.body !== undefined && <div className="text-sm break-words text-muted">{question.body}</div>}
    </Dialog>
  );
}
