import { useMutation } from "@tanstack/react-query";
import { ShieldOff } from "lucide-react";
import { ShieldCheck } from "../../../ui/icons.ts";
import { useState } from "react";
import { request } from "../../../api/http.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { toast, showError } from "../../../ui/toast.tsx";
import { useRefresh, useResource } from "../api.ts";
import { Loaded } from "../../../ui/loaded.tsx";
import { ActionDialog } from "../../../ui/action-dialog.tsx";
import { text } from "../text.ts";
import { RecoveryCodesDialog } from "./recovery-codes-dialog.tsx";
import { type NewSecret, TotpDialog } from "./totp-dialog.tsx";

/** The dialog that is open. */
type Step =
  | { readonly is: "disable" | "renew" }
  | { readonly is: "scan"; readonly secret: NewSecret }
  | { readonly is: "codes"; readonly codes: readonly string[] };

/** Two-factor authentication with an authenticator app: set up, recovery codes, turn off. */
export function TwoFactorCard() {
  const state = useResource("twoFactor");
  const refresh = useRefresh();
  const [step, setStep] = useState<Step>();
  const close = () => setStep(undefined);
  /** A dialog closes after its action, unless the action opened another one in its place. */
  const closeFrom = (from: Step["is"]) => setStep((now) => (now?.is === from ? undefined : now));
  const startSetup = useMutation({
    mutationFn: () => request<NewSecret>("POST", "/api/users/two-factor/setup"),
    onSuccess: (secret) => setStep({ is: "scan", secret }),
    onError: showError,
  });

  const showCodes = async (codes: readonly string[]) => {
    setStep({ is: "codes", codes });
    await refresh("twoFactor");
  };
  return (
    <Card title={text.twoFactor} description={text.twoFactorLead}>
      <Loaded query={state}>
        {({ enabled, recoveryCodesLeft }) => (
          <div className="flex flex-col items-start gap-4">
            <Status isEnabled={enabled} codesLeft={recoveryCodesLeft} />
            <div className="flex flex-wrap gap-2">
              {enabled ? (
                <>
                  <Button onClick={() => setStep({ is: "renew" })}>{text.newCodes}</Button>
                  <Button variant="danger" onClick={() => setStep({ is: "disable" })}>
                    {text.switchOff}
                  </Button>
                </>
              ) : (
                <Button variant="primary" busy={startSetup.isPending} onClick={() => startSetup.mutate()}>
                  {text.setUp}
                </Button>
              )}
            </div>
          </div>
        )}
      </Loaded>
      {step?.is === "scan" && (
        <TotpDialog secret={step.secret} onEnabled={(codes) => void showCodes(codes)} onClose={close} />
      )}
      {step?.is === "codes" && <RecoveryCodesDialog codes={step.codes} onClose={close} />}
      {step?.is === "renew" && (
        <ActionDialog
          title={text.newCodes}
          description={text.newCodesLead}
          action={text.newCodes}
          run={async () => {
            const path = "/api/users/two-factor/recovery-codes";
            const response = await request<{ recoveryCodes: string[] }>("POST", path);
            await showCodes(response.recoveryCodes);
          }}
          onClose={() => closeFrom("renew")}
        />
      )}
      {step?.is === "disable" && <TurnOffDialog onClose={close} />}
    </Card>
  );
}

function Status({ isEnabled, codesLeft }: { readonly isEnabled: boolean; readonly codesLeft: number }) {
  return (
    <p className="flex items-center gap-2">
      {isEnabled ? (
        <ShieldCheck aria-hidden className="size-5 text-success" />
      ) : (
        <ShieldOff aria-hidden className="size-5 text-muted" />
      )}
      <Badge tone={isEnabled ? "success" : "neutral"}>{isEnabled ? text.on : text.off}</Badge>
      {isEnabled && <span className="text-sm text-muted">{text.codesLeft({ left: codesLeft })}</span>}
    </p>
  );
}

function TurnOffDialog({ onClose }: { readonly onClose: () => void }) {
  const refresh = useRefresh();
  return (
    <ActionDialog
      title={text.switchOffTitle}
      description={text.switchOffLead}
      action={text.switchOff}
      isDanger
      run={async () => {
        await request("POST", "/api/users/two-factor/disable");
        toast({ text: text.twoFactorOff, tone: "success" });
        await refresh("twoFactor");
      }}
      onClose={onClose}
    />
  );
}
