/** Messages between the pages of this server that are open in one browser. */
import { basePath } from "../base/address.ts";

/** What happened to the session. */
export type TabMessage = { readonly kind: "signed-out" } | { readonly kind: "signed-in"; readonly userId: string };

const tabs = new BroadcastChannel(`larder${basePath()}`);

/** Calls `listener` for each message of another tab. @returns a function that ends this */
export function onTabMessage(listener: (message: TabMessage) => void): () => void {
  const hear = ({ data }: MessageEvent<TabMessage>) => listener(data);
  tabs.addEventListener("message", hear);
  return () => tabs.removeEventListener("message", hear);
}

/** Sends a message to the other tabs. */
export function notifyTabs(message: TabMessage): void {
  tabs.postMessage(message);
}
