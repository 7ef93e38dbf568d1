import { defineText } from "../../base/text.ts";

/** The text of the dialogs that put files into albums. */
export const text = defineText("albums-dialogs", {
  addTitle: "{n, plural, one {Add # file to an album} other {Add # files to an album}}",
  onlyFiles: "Albums can contain only files. Selected folders and their contents are left out.",
  noFiles: "Albums can contain only files. Select files to add.",
  choose: "Album",
  newAlbum: "New album",
  name: "Name",
  nameMissing: "Enter a name.",
  add: "Add",
  added: "{n, plural, one {# file added to “{album}”.} other {# files added to “{album}”.}}",
  alreadyThere: "All files are already in “{album}”.",
  someFailed: "{n, plural, one {# file couldn't be added.} other {# files couldn't be added.}}",
  open: "Open",
  shareTitle: "{n, plural, one {Share # file} other {Share # files}}",
  shareHint:
    "The files are shared together as an album. They stay in their folders, and you can change the album later.",
  defaultName: "Shared on {day}",
  next: "Continue",
  ok: "OK",
});
