import { useMutation } from "@tanstack/react-query";
import { Card } from "../../../ui/card.tsx";
import { Loaded } from "../../../ui/loaded.tsx";
import { Switch } from "../../../ui/switch.tsx";
import { showError } from "../../../ui/toast.tsx";
import { useChangeSettings, useResource } from "../api.ts";
import { text } from "../text.ts";

/** Whether the pages of links show the name of the account. */
export function GuestNameCard() {
  const settings = useResource("settings");
  const change = useMutation({ mutationFn: useChangeSettings(), onError: showError });
  return (
    <Card title={text.guestName}>
      <Loaded query={settings}>
        {({ showNameToGuests }) => (
          <Switch
            className="max-w-md"
            label={text.showNameToGuests}
            hint={text.showNameToGuestsHint}
            checked={showNameToGuests}
            disabled={change.isPending}
            onChange={(isShown) => change.mutate({ showNameToGuests: isShown })}
          />
        )}
      </Loaded>
    </Card>
  );
}
