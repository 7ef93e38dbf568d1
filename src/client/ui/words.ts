import { defineText } from "../app/text.ts";

/** Words of the components themselves. */
export const words = defineText("ui", {
  menu: "Menu",
  close: "Close",
  cancel: "Cancel",
  ok: "OK",
  loading: "Loading…",
  loadMore: "Show more",
  tryAgain: "Try again",
  failedTitle: "This could not be shown",
  copy: "Copy",
  copied: "Copied",
  copyFailed: "The browser did not allow it. Select the text and copy it by hand.",
  showPassword: "Show password",
  hidePassword: "Hide password",
  notifications: "Messages",
  dismiss: "Dismiss",
  required: "required",
});
