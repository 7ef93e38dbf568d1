import { defineText, plural } from "../../base/text.ts";

/** The text about what is in archives. */
export const text = defineText("archives", {
  extract: "Extract",
  extractHere: "Extract into a new folder",
  extracting: (name: string) => `Extracting ${name}…`,
  waiting: (name: string) => `${name} waits for another extraction…`,
  checking: (name: string) => `Checking ${name}…`,
  cancel: "Cancel",
  extracted: (folder: string) => `Extracted to ${folder}.`,
  canceled: "The extraction was canceled. Nothing was extracted.",
  lost: "The server was restarted. Nothing was extracted. Try again.",
  openFolder: "Open folder",
  contentOf: (name: string) => `Content of ${name}`,
  top: "Top folder",
  up: "Up",
  location: "Folder of the archive",
  empty: "This folder is empty.",
  items: (n: number) => plural(n, "# item", "# items"),
  more: "Show more",
  name: "Name",
  modified: "Modified",
  size: "Size",
  folder: "Folder",
  encrypted: "Encrypted",
  open: (name: string) => `Open ${name}`,
  download: (name: string) => `Download ${name}`,
});
