import { type ReactNode, useRef } from "react";
import { createStore, useStore } from "../base/store.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { uiText } from "./text.ts";

/** The content of a confirmation dialog. */
export interface Confirmation {
  readonly title: string;
  readonly body?: ReactNode;
  /** The label of the confirming button: a verb. */
  readonly action: string;
  readonly cancel?: string;
  readonly danger?: boolean;
}

interface PendingConfirmation extends Confirmation {
  readonly resolve: (isYes: boolean) => void;
}

const pending = createStore<{ confirmation: PendingConfirmation | undefined; isOpen: boolean }>({
  confirmation: undefined,
  isOpen: false,
});

/**
 * Asks the person for confirmation.
 * @returns whether they confirmed
 */
export function confirm(confirmation: Confirmation): Promise<boolean> {
  pending.get().confirmation?.resolve(false);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  pending.set({ confirmation: { ...confirmation, resolve }, isOpen: true });
  return promise;
}

/** Runs an action after the person has confirmed it. */
export function confirmThen(confirmation: Confirmation, action: () => void): void {
  void confirm(confirmation).then((isConfirmed) => isConfirmed && action());
}

/** Renders the confirmation dialog; once in the page. */
export function ConfirmHost() {
  const { confirmation, isOpen } = useStore(pending);
  const cancel = useRef<HTMLButtonElement>(null);
  if (confirmation === undefined) return null;
  const close = (isYes: boolean) => {
    confirmation.resolve(isYes);
    pending.set({ confirmation, isOpen: false });
  };
  return (
    <Dialog
      open={isOpen}
      role="alertdialog"
      onClose={() => close(false)}
      title={confirmation.title}
      initialFocus={cancel}
      hasClose={false}
      footer={
        <>
          <Button ref={cancel} onClick={() => close(false)}>
            {confirmation.cancel ?? uiText.cancel}
          </Button>
          <Button variant={confirmation.danger === true ? "danger" : "primary"} onClick={() => close(true)}>
            {confirmation.action}
          </Button>
        </>
      }
    >
      {confirmation.body !== undefined && <div className="text-sm break-words text-muted">{confirmation.body}</div>}
    </Dialog>
  );
}
