import { defineText } from "../../base/text.ts";

/** The text about imports that people and administrators see. */
export const text = defineText("import-runs", {
  kind: { takeout: "Google Takeout", nextcloud: "Nextcloud or ownCloud", immich: "Immich" },
  state: {
    waiting: "Waiting",
    running: "Running",
    paused: "Paused",
    interrupted: "Interrupted",
    completed: "Finished",
    failed: "Failed",
    canceled: "Canceled",
  },
  filesOf: "{found, number} of {total, plural, one {# file} other {# files}}",
  filesSoFar: "{found, plural, =0 {No files yet} one {# file so far} other {# files so far}}",
  bytesOf: "{found, number, bytes} of {total, number, bytes}",
  importedFiles: "{n, plural, one {# file imported} other {# files imported}}",
  notImported: "{n, plural, one {# not imported} other {# not imported}}",
  cancel: "Cancel import",
  cancelTitle: "Cancel this import?",
  cancelBody: "What is imported stays. To import the rest, start the import again.",
  keepGoing: "Keep importing",
  canceled: "Import canceled.",
  restoreDeleted: "Import deleted files again",
  restoreDeletedHint: "Files that were deleted since an earlier import.",
});
