import { useEffect, useEffectEvent, useState } from "react";
import { messageOf } from "../../api/http.ts";
import { cancelPasskey, PasskeyDismissed, signInWithPasskey } from "../../api/passkey.ts";
import { PASSKEY_RENEW_MS } from "./passkey-renewal.ts";
import { text } from "./text.ts";

/** The two ways to use a passkey: the autofill of the email field, and a button. */
export function usePasskey(isOffered: boolean, onDone: () => void) {
  const [isBusy, setBusy] = useState(false);
  const [isChosen, setChosen] = useState(false);
  const [message, setMessage] = useState<string>();
  const [round, setRound] = useState(0);
  const done = useEffectEvent(onDone);

  useEffect(() => {
    if (!isOffered || isBusy) return undefined;
    let isOver = false;
    const timer = setTimeout(() => setRound(round + 1), PASSKEY_RENEW_MS);
    const choose = () => {
      clearTimeout(timer);
      setChosen(true);
    };
    const offer = async () => {
      try {
        if ((await signInWithPasskey("autofill", choose)) !== undefined && !isOver) done();
      } catch (error) {
        if (isOver || error instanceof PasskeyDismissed) return;
        setChosen(false);
        setMessage(messageOf(error));
      }
    };
    void offer();
    return () => {
      isOver = true;
      clearTimeout(timer);
      void cancelPasskey();
    };
  }, [isOffered, isBusy, round]);

  const start = async () => {
    setBusy(true);
    setMessage(undefined);
    try {
      await signInWithPasskey("button");
      onDone();
    } catch (error) {
      setMessage(error instanceof PasskeyDismissed ? text.passkeyFailed : messageOf(error));
      setBusy(false);
    }
  };
  return { isBusy: isBusy || isChosen, message, start: () => void start() };
}
