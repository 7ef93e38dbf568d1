/** The texts of the pages of shares. */
import { defineTexts } from "../../translations/server-texts.ts";

/** The page of a shared file, and what all pages of shares have in common. */
export const shareTexts = defineTexts("page-share", {
  folder: "Folder",
  download: "Download",
  openInBrowser: "Open in browser",
  preview: "Preview of {name}",
  sharedBy: "Shared by {name}",
  expires: "Expires {time}",
  size: "{bytes, number, bytes}",
  kinds: {
    image: "Image",
    audio: "Audio",
    video: "Video",
    pdf: "PDF document",
    archive: "Archive",
    text_document: "Text document",
    spreadsheet: "Spreadsheet",
    presentation: "Presentation",
    text: "Text",
    file: "File",
  },
  kindWithExtension: "{kind} ({extension})",
  unlockTitle: "Enter the password",
  unlockProblemTitle: "Error: Enter the password",
  unlockLead: "This link is protected with a password. Ask the sender if you don't have it.",
  password: "Password",
  open: "Open",
  notFound: "Link not found",
  notFoundLead: "The link may be incomplete, or the owner may have stopped sharing.",
  notFoundHint: "Check the link, or ask the sender for a new one.",
  tooManyAttempts: "Too many attempts",
  expired: "This link has expired",
  usedUp: "This link has reached its download limit",
  notAllowed: "You can't do this with this link",
  requestNewLink: "Ask the sender for a new link.",
  received: "{owner} shared this with you. You can view it.",
  receivedWritable: "{owner} shared this with you. You can view and change it.",
  receivedLead: "To open it, go to “Shared with me”, here or in a connected program.",
  openReceived: "Open “Shared with me”",
});

/** The page of a shared folder or album. */
export const sharedFolderTexts = defineTexts("page-shared-folder", {
  foldersAbove: "Folders above",
  folder: "Folder",
  album: "Album",
  items: "{n, plural, one {# item} other {# items}}",
  downloadAll: "Download all as ZIP",
  sortBy: "Sort by",
  sorts: { position: "album order", name: "name", size: "size", date: "date" },
  viewAs: "View as",
  views: { list: "list", grid: "grid" },
  emptyFolder: "This folder is empty.",
  emptyAlbum: "This album is empty.",
  pages: "Pages",
  previous: "Previous",
  next: "Next",
  page: "Page {page, number} of {pages, number}",
  downloadSelected: "Download selected as ZIP",
  select: "Select {name}",
  download: "Download",
  downloadFile: "Download {name}",
});

/** The page of a drop box. */
export const dropBoxTexts = defineTexts("page-drop-box", {
  title: "Upload files",
  lead: "Files that you upload here go to {recipient}. You can't see files that others uploaded, and they can't see yours.",
  leadWithoutName:
    "Files that you upload here go to the person who sent you this link. You can't see files that others uploaded, and they can't see yours.",
  uploaded: "{name} was uploaded ({size, number, bytes}).",
  sender: "Your name",
  senderHint: "Optional. Saved with the file.",
  file: "File",
  anotherFile: "Another file",
  fileHint: "One file at a time. Keep this page open until the upload is complete.",
  fileHintWithLimit:
    "One file at a time, up to {limit, number, bytes}. Keep this page open until the upload is complete.",
  upload: "Upload",
});
