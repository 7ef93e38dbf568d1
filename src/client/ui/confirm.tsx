import { type ReactNode, useRef } from "react";
import { createStore, useStore } from "../base/store.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { words } from "./text.ts";

/** What is asked before something that can't be taken back. */
export interface Question {
  readonly title: string;
  readonly body?: ReactNode;
  /** The word on the button that does it: a verb. */
  readonly action: string;
  readonly cancel?: string;
  readonly danger?: boolean;
}

interface Asked extends Question {
  readonly answer: (isYes: boolean) => void;
}

const asked = createStore<{ question: Asked | undefined; isOpen: boolean }>({ question: undefined, isOpen: false });

/** Asks the person. @returns whether they said yes */
export function confirm(question: Question): Promise<boolean> {
  asked.get().question?.answer(false);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  asked.set({ question: { ...question, answer: resolve }, isOpen: true });
  return promise;
}

/** {@link confirm}, in the manner of hooks. */
export function useConfirm(): (question: Question) => Promise<boolean> {
  return confirm;
}

/** Where questions appear; once in the page. */
export function ConfirmHost() {
  const { question, isOpen } = useStore(asked);
  const cancel = useRef<HTMLButtonElement>(null);
  if (question === undefined) return null;
  const answer = (isYes: boolean) => {
    question.answer(isYes);
    asked.set({ question, isOpen: false });
  };
  return (
    <Dialog
      open={isOpen}
      role="alertdialog"
      onClose={() => answer(false)}
      title={question.title}
      initialFocus={cancel}
      hasClose={false}
      footer={
        <>
          <Button ref={cancel} onClick={() => answer(false)}>
            {question.cancel ?? words.cancel}
          </Button>
          <Button variant={question.danger === true ? "danger" : "primary"} onClick={() => answer(true)}>
            {question.action}
          </Button>
        </>
      }
    >
      {question.body !== undefined && <div className="text-sm break-words text-muted">{question.body}</div>}
    </Dialog>
  );
}
