import { defineTexts } from "../../../translations/server-texts.ts";

/** The texts of notifications. */
export const notificationTexts = defineTexts("notifications", {
  uploaded: "{n, plural, one {File uploaded} other {Files uploaded}}",
  uploadedText: "{name} was uploaded from {device}.",
  uploadedTextMany:
    "{n, plural, one {# file was} other {# files were}} uploaded from {device}. The most recent is {name}.",
  failed: "{n, plural, one {Upload failed} other {Uploads failed}}",
  failedText: "{name} could not be uploaded from {device}.",
  failedTextMany:
    "{n, plural, one {# file} other {# files}} could not be uploaded from {device}. The most recent is {name}.",
  whyFailed: {
    upload_expired: "The upload expired before it was complete.",
    expired: "The upload expired before it was complete.",
    checksum_mismatch: "The uploaded data does not match its checksum.",
    quota_exceeded: "Your storage is full.",
    file_too_large: "The file is larger than your plan allows.",
    disk_full: "The server's disk is full.",
  },
  sentences: "{first} {second}",
  linkUsed: "Public link used",
  linkUsedText: "{name} was downloaded through its public link for the first time.",
  guessed: "Wrong passwords for a public link",
  guessedText:
    "Someone entered {n, plural, one {# wrong password} other {# wrong passwords}} within an hour for your link to {name}. New visitors must now wait between attempts. To stop this, change the password or delete the link.",
  shared: {
    file: "File shared with you",
    folder: "Folder shared with you",
    album: "Album shared with you",
  },
  sharedText: "{owner} shared {name} with you.",
  apiKey: "New API key",
  apiKeyText:
    "The API key {name} was created for your account. If you did not create it, delete it and change your password.",
  appPassword: "New app password",
  appPasswordText:
    "The app password {name} was created for your account. If you did not create it, end its access and change your password.",
  storageFull: "Storage is full",
  storageFullText:
    "You have used {used, number, bytes} of {quota, number, bytes}. You can't upload files until you free up space.",
  storage: "Storage is {percent, number}% full",
  storageText:
    "You have used {used, number, bytes} of {quota, number, bytes}. Delete files you don't need, or ask for more storage.",
  damaged: "{n, plural, one {A file is damaged on the server} other {# files are damaged on the server}}",
  damagedText: "{name} is damaged or missing on the server. Upload your own copy of the same file again to repair it.",
  damagedTextMany:
    "{name} and other files are damaged or missing on the server. Upload your own copy of the same file again to repair it.",
  database: "The database is damaged",
  databaseText: "The nightly check found damage in the database. Stop the server, then run: larder verify",
  blobs: "Stored files are damaged",
  blobsText:
    "{n, plural, one {# blob is} other {# blobs are}} damaged or missing in the store. Check the disk, then restore good copies: larder heal --from BACKUP",
  bucket: "The bucket is unavailable",
  bucketText:
    "{problem} {n, plural, one {# blob is} other {# blobs are}} stored only on the server's disk. Files stored only in the bucket can't be opened until it is available again.",
  device: "New device",
  deviceText: "{name} was added to your account. If this wasn't you, remove it and change your password.",
  reused: "A device was signed out",
  reusedText:
    "Someone may have copied the sign-in of {name}, so the device was signed out. Sign in again on that device, and change your password if you don't know why this happened.",
  changes: {
    password: "Password changed",
    email: "Email address changed",
    two_factor_on: "Two-factor authentication is on",
    two_factor_off: "Two-factor authentication is off",
    recovery_codes: "New recovery codes",
    passkey_added: "Passkey added",
    passkey_removed: "Passkey removed",
  },
  changeTexts: {
    password: "The password of your account was changed.",
    email: "The email address of your account was changed.",
    two_factor_on: "Two-factor authentication was turned on for your account.",
    two_factor_off: "Two-factor authentication was turned off for your account.",
    recovery_codes: "The recovery codes of your account were replaced.",
    passkey_added: "A passkey was added to your account.",
    passkey_removed: "A passkey was removed from your account.",
  },
  changeTextsByAdministrator: {
    password: "The password of your account was changed by an administrator.",
    email: "The email address of your account was changed by an administrator.",
    two_factor_on: "Two-factor authentication was turned on for your account by an administrator.",
    two_factor_off: "Two-factor authentication was turned off for your account by an administrator.",
    recovery_codes: "The recovery codes of your account were replaced by an administrator.",
    passkey_added: "A passkey was added to your account by an administrator.",
    passkey_removed: "A passkey was removed from your account by an administrator.",
  },
  notYou: "If this wasn't you, contact your administrator immediately.",
  massChange: "Changes waiting for approval",
  massChangeText:
    "{name} tried to delete or replace {n, plural, one {# file} other {# files}}, far more than usual. It can't delete or replace more until you decide.",
});
