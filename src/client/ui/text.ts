import { defineText } from "../base/text.ts";

/** The text of the components themselves. */
export const uiText = defineText("ui", {
  product: "Larder",
  menu: "Menu",
  close: "Close",
  cancel: "Cancel",
  loading: "Loading…",
  loadMore: "Show more",
  tryAgain: "Try again",
  failedTitle: "Couldn't load this",
  noConnection: "No connection",
  copy: "Copy",
  copied: "Copied",
  done: "Done",
  selected: "{n, plural, one {# selected} other {# selected}}",
  selectionBar: "Actions for the selection",
  clearSelection: "Clear selection",
  copyFailed: "The browser blocked copying. Select the text and copy it yourself.",
  showPassword: "Show password",
  hidePassword: "Hide password",
  notifications: "Notifications",
  dismiss: "Dismiss",
  passwordStrength: {
    0: "Use at least 8 characters. Several unrelated words work well.",
    1: "Too short. Use at least 8 characters.",
    2: "Fair. Add a few more characters.",
    3: "Good.",
    4: "Very good.",
  },
  tooManyAttempts: "Too many attempts.",
  waitOver: "You can try again now.",
  waitSeconds: "{seconds, plural, one {You can try again in # second.} other {You can try again in # seconds.}}",
  waitMinutes: "{minutes, plural, one {You can try again in # minute.} other {You can try again in # minutes.}}",
});

/** How long to wait before the next attempt. */
export function waitText(seconds: number): string {
  return seconds < 120 ? uiText.waitSeconds({ seconds }) : uiText.waitMinutes({ minutes: Math.ceil(seconds / 60) });
}
