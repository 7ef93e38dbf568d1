import { defineText } from "../base/text.ts";

/** Why a browser gets no notifications. */
export const pushText = defineText("push", {
  obstacle: {
    insecure: "Not available: browsers allow this only over HTTPS. Open Larder at its HTTPS address.",
    unsupported: "Not available: this browser doesn't support push notifications.",
    homeScreen: "On an iPhone or iPad, first add Larder to the home screen, and open it from there.",
    denied: "Blocked: this browser doesn't allow notifications from Larder. Allow them in the browser's site settings.",
    noKeys: "Not available: this server has no keys for Web Push. Ask your administrator.",
  },
});
