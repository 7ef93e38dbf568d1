import { defineText } from "../base/text.ts";

/** The text of the scripts on the pages of public links. The server renders the rest. */
export const text = defineText("public", {
  download: "Download",
  previous: "Previous",
  next: "Next",
  close: "Close",
  preview: "Preview",
  position: "{name} ({n, number} of {total, number})",
  noPreview: "No preview is available for this file. Download it to open it.",
  loading: "Loading…",
  fileNotLoaded: "Couldn't load this file. The link may have expired. Reload the page.",
  showText: "Show text",
  textNotLoaded: "Couldn't load the text. Reload the page and try again.",
  content: "File content",
  downloadSelected: "Download selected as ZIP",
  downloadItems: "{n, plural, one {Download # item as ZIP} other {Download # items as ZIP}}",
  clearSelection: "Clear selection",
  selectAll: "Select all on this page",
  offline: "Can't reach the server. Check your connection and try again.",
  failed: "Something went wrong. Try again.",
  failedWithStatus: "The server returned an error (status {status}). Try again.",
});

/** The text of the script on the page of a drop box. */
export const dropBoxText = defineText("drop-box", {
  unreadableItems:
    "{n, plural, one {Couldn't read # item. Choose it with the buttons above.} other {Couldn't read # items. Choose them with the buttons above.}}",
  chooseFiles: "Choose files",
  chooseFolder: "Choose folder",
  drop: "Drop files or folders here.",
  dropWithLimit: "Drop files or folders here. Up to {limit, number, bytes} per file.",
  progressOfAll: "Progress of all files",
  pauseAll: "Pause all",
  resumeAll: "Resume all",
  allUploaded: "{n, plural, one {# file uploaded. Thank you.} other {# files uploaded. Thank you.}}",
  uploaded: "{n, plural, one {{done, number} of # file uploaded.} other {{done, number} of # files uploaded.}}",
  uploadedAndFailed:
    "{n, plural, one {{done, number} of # file uploaded. {failed, number} failed.} other {{done, number} of # files uploaded. {failed, number} failed.}}",
  unreadable:
    "Can't read this file. It may have been changed, moved, or deleted on your device. Choose it again above, and remove this one.",
  retrying: "Retrying automatically…",
  locked: "Waiting for the link's password.",
  failedWithStatus:
    "The server returned an error (status {status}). Try again, or ask the person who sent you the link.",
  tooLarge: "This file is too large for this drop box.",
  passwordAgain: "Enter the link's password again",
  proceed: "Continue",
  files: "Files",
  pause: "Pause",
  resume: "Resume",
  retry: "Retry",
  remove: "Remove",
  hide: "Hide",
  actionOf: {
    pause: "Pause: {name}",
    resume: "Resume: {name}",
    retry: "Retry: {name}",
    remove: "Remove {name}",
    hide: "Hide {name}",
  },
  progressOf: "Progress of {name}",
  queued: "Queued, {size, number, bytes}",
  sending: "{sent, number, bytes} of {size, number, bytes}",
  sendingWithProblem: "{sent, number, bytes} of {size, number, bytes}. {problem}",
  paused: "Paused at {sent, number, bytes} of {size, number, bytes}",
  uploadFailed: "Upload failed.",
  done: "Uploaded, {size, number, bytes}",
});
