import { defineText } from "../base/text.ts";

/** Messages for requests that failed without a message from the server. The server's own messages are in English. */
export const requestText = defineText("requests", {
  offline: "Can't reach the server. Check your connection and try again.",
  unexpected: "Something went wrong on this page. Reload it. If this keeps happening, contact your administrator.",
  notConfirmed: "Nothing was changed because you didn't confirm your identity. Try again and confirm.",
  locked:
    "A program has locked this item. Finish in that program first. Its owner can also end the lock in Settings, under Devices.",
  tooLargeForProxy:
    "A proxy in front of the server rejected this request as too large. Ask your administrator to raise the limit.",
  unavailable: "The server isn't responding. Try again in a few minutes.",
  noMessage:
    "The server returned an error (status {status}). Try again. If this keeps happening, contact your administrator.",
});
