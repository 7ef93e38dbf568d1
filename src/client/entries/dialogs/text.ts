import { defineText } from "../../base/text.ts";

/** The text of the dialogs about files and folders. */
export const text = defineText("entry-dialogs", {
  newFileName: "File name",
  newFileDefault: "Untitled",
  newFolderTitle: "New folder",
  newFolderName: "Folder name",
  create: "Create folder",
  cancel: "Cancel",
  folderCreated: "Folder “{name}” created.",
  moveTitle: "{n, plural, one {Move # item} other {Move # items}}",
  copyTitle: "{n, plural, one {Copy # item} other {Copy # items}}",
  moveHere: "Move here",
  copyHere: "Copy here",
  readOnly: "Read-only",
  readOnlyHint: "The program can open files, but not change or delete them.",
  readOnlyAccount: "Your account is read-only.",
  oneFolder: "Only one folder",
  oneFolderHint: "The program sees nothing outside this folder.",
  tagsTitle: "{n, plural, one {Edit tags of # file} other {Edit tags of # files}}",
  addTags: "Add tags",
  addTagsHint: "Separate tags with commas.",
  removeTags: "Remove tags",
  apply: "Apply",
  onlyFilesHaveTags: "Tags apply to files only. Folders in the selection stay unchanged.",
  copyInto: "Copy into",
  sharedRoot: "{name} (shared by {owner})",
});
