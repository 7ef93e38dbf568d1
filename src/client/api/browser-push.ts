/** Notifications in this browser: whether they are on, why they can't be, and how to turn them on and off. */
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import {
  endSubscription,
  findSubscription,
  pushObstacle,
  type PushObstacle,
  subscribe,
} from "../base/push-subscription.ts";
import type { ResponseData } from "./generated.ts";
import { request } from "./http.ts";
import { keys } from "./queries.ts";

const CONFIG = "/api/users/notifications/config";
const SUBSCRIPTIONS = "/api/users/push-subscriptions";

/** Whether this browser gets notifications, and why it can't. */
export interface BrowserPush {
  readonly vapidPublicKey: string;
  readonly isOn: boolean;
  readonly obstacle: PushObstacle | "noKeys" | undefined;
}

const browserPushQuery = queryOptions({
  queryKey: [...keys.notifications, "push"],
  queryFn: ({ signal }) => readState(signal),
});

/** The state of this browser, and the change of it. Call it from a click: the browser may ask the person. */
export function useBrowserPush(onError: (error: Error) => void) {
  const queryClient = useQueryClient();
  const state = useQuery(browserPushQuery);
  const change = useMutation({
    mutationFn: ({ vapidPublicKey, isOn }: Pick<BrowserPush, "vapidPublicKey" | "isOn">) =>
      isOn ? turnOn(vapidPublicKey) : turnOff(),
    onError,
    onSettled: () => queryClient.invalidateQueries({ queryKey: browserPushQuery.queryKey }),
  });
  return { state, change };
}

async function readState(signal: AbortSignal): Promise<BrowserPush> {
  const config = await request<ResponseData["GET /api/users/notifications/config"]>("GET", CONFIG, { signal });
  const { vapidPublicKey, isSubscribed } = config;
  const isOn = isSubscribed && (await findSubscription()) !== undefined;
  return { vapidPublicKey, isOn, obstacle: vapidPublicKey === "" ? "noKeys" : pushObstacle() };
}

async function turnOn(vapidPublicKey: string): Promise<void> {
  const subscription = await subscribe(vapidPublicKey);
  if (subscription === undefined) return;
  try {
    await request("POST", SUBSCRIPTIONS, { body: { pushToken: JSON.stringify(subscription) } });
  } catch (error) {
    await subscription.unsubscribe();
    throw error;
  }
}

async function turnOff(): Promise<void> {
  await request("DELETE", SUBSCRIPTIONS);
  await endSubscription();
}
