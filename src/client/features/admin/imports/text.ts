import { defineText } from "../../../base/text.ts";

/** The text of the imports of all accounts. */
export const text = defineText("admin-imports", {
  title: "Imports",
  hint: "Imports of all accounts from other services. People start them in Settings → Import.",
  folderHint:
    "To import from a folder of the server, set “importsFolder” to a folder with archives of Google Takeout or with the files of a Nextcloud, and restart the server.",
  none: "No imports yet",
  source: "Source",
  account: "Account",
  deletedAccount: "Deleted account",
  state: "State",
  progress: "Progress",
  startedAt: "Started",
  by: {
    account: "By the person",
    administrator: "By an administrator",
    command: "By a command",
  },
  start: "Import from a folder",
  startTitle: "Import from a folder of the server",
  startHint: "The server reads the folder. Nothing is uploaded, and nothing changes in the folder.",
  person: "Account, by name or email",
  choosePerson: "Choose one account.",
  kind: "Content of the folder",
  kinds: {
    takeout: "Archives of Google Takeout",
    nextcloud: "Files of a person from the data directory of a Nextcloud",
  },
  path: "Path",
  pathHint: "Archive or folder in the folder for imports (importsFolder), such as anna/takeout.",
  target: "Target folder in the account",
  started: "Import started.",
});
