import { defineText, plural } from "../../base/text.ts";

/** The text of the dialogs that put files into albums. */
export const text = defineText("albums-dialogs", {
  addTitle: (n: number) => plural(n, "Add # file to an album", "Add # files to an album"),
  onlyFiles: "Albums can contain only files. Selected folders and their contents are left out.",
  noFiles: "Albums can contain only files. Select files to add.",
  choose: "Album",
  newAlbum: "New album",
  name: "Name",
  nameMissing: "Enter a name.",
  add: "Add",
  added: (n: number, album: string) => plural(n, `# file added to “${album}”.`, `# files added to “${album}”.`),
  alreadyThere: (album: string) => `All files are already in “${album}”.`,
  someFailed: (n: number) => plural(n, "# file couldn't be added.", "# files couldn't be added."),
  open: "Open",
  itemCount: (n: number) => plural(n, "# item", "# items"),
  shareTitle: (n: number) => plural(n, "Share # file", "Share # files"),
  shareHint:
    "The files are shared together as an album. They stay in their folders, and you can change the album later.",
  defaultName: (day: string) => `Shared on ${day}`,
  next: "Continue",
  ok: "OK",
});
