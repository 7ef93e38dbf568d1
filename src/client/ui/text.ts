import { defineText } from "../base/text.ts";

/** The text of the components themselves. */
export const words = defineText("ui", {
  menu: "Menu",
  close: "Close",
  cancel: "Cancel",
  loading: "Loading…",
  loadMore: "Show more",
  tryAgain: "Try again",
  failedTitle: "Couldn't load this",
  copy: "Copy",
  copied: "Copied",
  copyFailed: "The browser blocked copying. Select the text and copy it yourself.",
  showPassword: "Show password",
  hidePassword: "Hide password",
  notifications: "Notifications",
  dismiss: "Dismiss",
});
