import { messageOf } from "../../api/http.ts";
import { cancelPasskey, PasskeyDismissed, signInWithPasskey } from "../../api/passkey.ts";
import { PASSKEY_RENEW_MS } from "./passkey-renewal.ts";
import { showProblem } from "./page-parts.ts";
import { text } from "./text.ts";

/** Offers passkeys in two ways: as suggestions of the email field, and by the button. */
export function runPasskeys(form: HTMLFormElement, button: HTMLButtonElement, done: (userId: string) => void): void {
  let isBusy = false;
  const setBusy = (now: boolean) => {
    isBusy = now;
    button.disabled = now;
  };
  const offer = async () => {
    if (isBusy) return;
    let isChosen = false;
    const choose = () => {
      isChosen = true;
      setBusy(true);
    };
    try {
      const userId = await signInWithPasskey("autofill", choose);
      if (userId !== undefined) done(userId);
    } catch (error) {
      const isReplaced = isBusy && !isChosen;
      if (isReplaced || error instanceof PasskeyDismissed) return;
      setBusy(false);
      showProblem(form, messageOf(error));
    }
  };
  const start = async () => {
    setBusy(true);
    showProblem(form, undefined);
    try {
      const userId = await signInWithPasskey("button");
      if (userId !== undefined) done(userId);
    } catch (error) {
      showProblem(form, error instanceof PasskeyDismissed ? text.passkeyFailed : messageOf(error));
      setBusy(false);
      void offer();
    }
  };
  button.hidden = false;
  button.addEventListener("click", () => void start());
  void offer();
  setInterval(() => void cancelPasskey().then(offer), PASSKEY_RENEW_MS);
}
