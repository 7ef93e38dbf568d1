/** The Web Push subscription of this browser. */

/** Why this browser can't receive notifications. */
export type PushObstacle = "insecure" | "unsupported" | "homeScreen" | "denied";

/** Why this browser can't receive notifications; undefined if it can. */
export function pushObstacle(): PushObstacle | undefined {
  if (!window.isSecureContext) return "insecure";
  if (!("serviceWorker" in navigator) || !("PushManager" in window) || !("Notification" in window)) {
    return isApplePhone() ? "homeScreen" : "unsupported";
  }
  return Notification.permission === "denied" ? "denied" : undefined;
}

/** An iPhone or iPad, on which only an installed web app gets notifications. An iPad says that it is a Mac. */
function isApplePhone(): boolean {
  return /iPhone|iPad/.test(navigator.userAgent) || (/Mac/.test(navigator.userAgent) && navigator.maxTouchPoints > 1);
}

/** The current subscription; undefined if there is none. */
export async function findSubscription(): Promise<PushSubscription | undefined> {
  const registration = pushObstacle() === undefined ? await navigator.serviceWorker.getRegistration() : undefined;
  return (await registration?.pushManager.getSubscription()) ?? undefined;
}

/**
 * Subscribes this browser, after the person has allowed it.
 * @param vapidPublicKey the key of the server, base64url
 * @returns undefined if the person did not allow it
 * @throws DOMException if the push service of the browser can't be reached
 */
export async function subscribe(vapidPublicKey: string): Promise<PushSubscription | undefined> {
  if ((await Notification.requestPermission()) !== "granted") return undefined;
  const registration = await navigator.serviceWorker.ready;
  // One of another key can't be used by this server.
  await (await registration.pushManager.getSubscription())?.unsubscribe();
  return registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: vapidPublicKey });
}

/** Ends the subscription, if there is one. The server need not be reachable. */
export async function endSubscription(): Promise<void> {
  await (await findSubscription())?.unsubscribe();
}
