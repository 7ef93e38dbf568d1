import { Suspense } from "react";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { lazyPart } from "../ui/lazy-part.ts";
import { Spinner } from "../ui/spinner.tsx";
import { currentAddress, href } from "../base/address.ts";
import { afterSignIn, useSessionState } from "../api/session.ts";
import { frameText } from "./text.ts";
import { showError } from "../ui/toast.tsx";
import { ignore } from "../base/ignore.ts";

const SignInForm = lazyPart(() => import("../features/sign-in/sign-in-form.tsx").then((part) => part.SignInForm));

/**
 * The sign-in dialog over the page after the session has ended. The page stays as it is, and waiting requests continue
 * afterwards.
 */
export function SignInAgain() {
  const state = useSessionState();
  const isOpen = state.status === "signed-in" && state.isLost;
  if (!isOpen) return null;
  return (
    <Dialog
      open
      isPersistent
      hasClose={false}
      onClose={ignore}
      title={frameText.signInAgain}
      description={frameText.signInAgainHint}
      footer={
        <Button
          variant="quiet"
          onClick={() =>
            window.location.assign(href(`/sign-in?${new URLSearchParams({ next: currentAddress() }).toString()}`))
          }
        >
          {frameText.signInAsOther}
        </Button>
      }
    >
      <Suspense fallback={<Spinner />}>
        <SignInForm email={state.user.email} onDone={() => void afterSignIn().catch(showError)} />
      </Suspense>
    </Dialog>
  );
}
