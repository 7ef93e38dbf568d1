import { useBrowserPush } from "../../../api/browser-push.ts";
import { Card } from "../../../ui/card.tsx";
import { Loaded } from "../../../ui/loaded.tsx";
import { Switch } from "../../../ui/switch.tsx";
import { showError } from "../../../ui/toast.tsx";
import { pushText } from "../../../ui/push-text.ts";
import { text } from "../text.ts";

/** Turns notifications in this browser on and off. */
export function BrowserPushCard() {
  const { state, change } = useBrowserPush(showError);
  return (
    <Card title={text.browserPush} description={text.browserPushLead}>
      <Loaded query={state}>
        {({ vapidPublicKey, isOn, obstacle }) => (
          <Switch
            label={text.browserPushOn}
            hint={obstacle === undefined ? text.browserPushHint : pushText.obstacle(obstacle)}
            checked={isOn}
            disabled={obstacle !== undefined || change.isPending}
            onChange={(on) => change.mutate({ vapidPublicKey, isOn: on })}
          />
        )}
      </Loaded>
    </Card>
  );
}
