import { defineText, plural } from "../base/text.ts";

const STRENGTHS = [
  "Use at least 8 characters. Several unrelated words work well.",
  "Too short. Use at least 8 characters.",
  "Fair. Add a few more characters.",
  "Good.",
  "Very good.",
];

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
  selected: (n: number) => plural(n, "# selected", "# selected"),
  selectionBar: "Actions for the selection",
  clearSelection: "Clear selection",
  copyFailed: "The browser blocked copying. Select the text and copy it yourself.",
  showPassword: "Show password",
  hidePassword: "Hide password",
  notifications: "Notifications",
  dismiss: "Dismiss",
  passwordStrength: (step: number) => STRENGTHS[step] ?? "",
  tooManyAttempts: "Too many attempts.",
  waitOver: "You can try again now.",
  waitSeconds: (seconds: number) =>
    plural(seconds, "You can try again in # second.", "You can try again in # seconds."),
  waitMinutes: (minutes: number) =>
    plural(minutes, "You can try again in # minute.", "You can try again in # minutes."),
});

/** How long to wait before the next attempt. */
export function waitText(seconds: number): string {
  return seconds < 120 ? uiText.waitSeconds(seconds) : uiText.waitMinutes(Math.ceil(seconds / 60));
}
