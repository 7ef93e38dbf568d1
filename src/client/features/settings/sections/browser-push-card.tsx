import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ResponseData } from "../../../api/generated.ts";
import { request } from "../../../api/http.ts";
import { keys } from "../../../api/queries.ts";
import {
  endSubscription,
  findSubscription,
  pushObstacle,
  type PushObstacle,
  subscribe,
} from "../../../base/push-subscription.ts";
import { Card } from "../../../ui/card.tsx";
import { Loaded } from "../../../ui/loaded.tsx";
import { Switch } from "../../../ui/switch.tsx";
import { showError } from "../../../ui/toast.tsx";
import { text } from "../text.ts";

const PATH = "/api/users/notifications/push";
const KEY = [...keys.notifications, "push"];

type State = ResponseData["GET /api/users/notifications/push"];

/** Whether this browser gets notifications, and why it can't. */
interface BrowserState {
  readonly vapidPublicKey: string;
  readonly isOn: boolean;
  readonly obstacle: PushObstacle | "noKeys" | undefined;
}

/** Turns notifications in this browser on and off. */
export function BrowserPushCard() {
  const queryClient = useQueryClient();
  const state = useQuery({ queryKey: KEY, queryFn: ({ signal }) => readState(signal) });
  const change = useMutation({
    mutationFn: (vapidPublicKey: string | undefined) =>
      vapidPublicKey === undefined ? turnOff() : turnOn(vapidPublicKey),
    onError: showError,
    onSettled: () => queryClient.invalidateQueries({ queryKey: KEY }),
  });
  return (
    <Card title={text.browserPush} description={text.browserPushLead}>
      <Loaded query={state}>
        {({ vapidPublicKey, isOn, obstacle }) => (
          <Switch
            label={text.browserPushOn}
            hint={obstacle === undefined ? text.browserPushHint : text.pushObstacle(obstacle)}
            checked={isOn}
            disabled={obstacle !== undefined || change.isPending}
            onChange={(on) => change.mutate(on ? vapidPublicKey : undefined)}
          />
        )}
      </Loaded>
    </Card>
  );
}

async function readState(signal: AbortSignal): Promise<BrowserState> {
  const { vapidPublicKey, isSubscribed } = await request<State>("GET", PATH, { signal });
  const isOn = isSubscribed && (await findSubscription()) !== undefined;
  const obstacle = vapidPublicKey === "" ? "noKeys" : pushObstacle();
  return { vapidPublicKey, isOn, obstacle };
}

async function turnOn(vapidPublicKey: string): Promise<void> {
  const subscription = await subscribe(vapidPublicKey);
  if (subscription === undefined) return;
  try {
    await request("PUT", PATH, { body: { subscription: JSON.stringify(subscription) } });
  } catch (error) {
    await subscription.unsubscribe();
    throw error;
  }
}

async function turnOff(): Promise<void> {
  await request("DELETE", PATH);
  await endSubscription();
}
