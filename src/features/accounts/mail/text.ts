import { defineTexts } from "../../../translations/server-texts.ts";

/** The texts of emails. */
export const mailTexts = defineTexts("mail", {
  footer: "This email was sent automatically by a Larder server. Replies are not read.",
  open: "Open Larder",
  test: "Test from Larder",
  testText: "This is a test. Email from your Larder server arrives.",
  reset: "Reset your password",
  resetLead: "Someone requested a password reset for your Larder account. To choose a new password, open this link:",
  resetEnd:
    "The link works once and expires in {minutes, plural, one {# minute} other {# minutes}}. If you did not request this, ignore this email. Your password does not change.",
  resetLink: "Choose a new password",
  confirm: "Confirm your email address",
  confirmLead:
    "An account on a Larder server uses this email address. If the account is yours, open this link to confirm it:",
  confirmEnd:
    "The link works once and expires in 24 hours. If the account is not yours, ignore this email. Until the address is confirmed, the account can't share files or open files shared with this address.",
  confirmLink: "Confirm email address",
  invite: "You are invited to Larder",
  inviteLead: "You are invited to store files on this Larder server. To create your account, open this link:",
  inviteLeadFrom: "“{name}” invited you to store files on this Larder server. To create your account, open this link:",
  inviteEnd: "The invitation is for you only and expires on {time}.",
  inviteLink: "Create account",
  shared: {
    file: "A file was shared with you",
    folder: "A folder was shared with you",
    album: "An album was shared with you",
  },
  sharedText: {
    file: "“{owner}” shared the file “{name}” with you. To open it, sign in and go to “Shared with me”.",
    folder: "“{owner}” shared the folder “{name}” with you. To open it, sign in and go to “Shared with me”.",
    album: "“{owner}” shared the album “{name}” with you. To open it, sign in and go to “Shared with me”.",
  },
  storageFull: "Your storage is full",
  storageFullText: "Your storage is full. You can't upload files until you free up space.",
  storage: "Your storage is {percent, number}% full",
  storageText: "Your storage is {percent, number}% full.",
  storageHint: "Delete files you don't need, or ask your administrator for more storage.",
  damaged: "{n, plural, one {A file is damaged on the server} other {# files are damaged on the server}}",
  damagedText: "These files are damaged or missing on the server and can't be opened: {names}.",
  damagedTextMore:
    "These files are damaged or missing on the server and can't be opened: {names} and {more, number} more.",
  damagedName: "“{name}”",
  damagedHint: "Upload your own copies of the same files again to repair them.",
  database: "The database is damaged",
  databaseText: "The nightly check found damage in the database. Stop the server, then run: larder verify",
  blobs: "Stored files are damaged",
  blobsText:
    "{n, plural, one {# blob is} other {# blobs are}} damaged or missing in the store. Check the disk. To list the affected files, run: larder verify. To restore good copies, run: larder heal --from BACKUP",
  bucket: "The bucket is unavailable",
  bucketText:
    "{n, plural, one {# blob is} other {# blobs are}} stored only on the server's disk until the bucket is available again. Files stored only in the bucket can't be opened until then.",
  notYou: "If this wasn't you, contact your administrator immediately.",
  password: "Your password was changed",
  passwordText: "The password of your Larder account was changed. Sign in again in your browsers.",
  passwordTextByAdministrator:
    "The password of your Larder account was changed by an administrator. Sign in again in your browsers.",
  email: "Your email address was changed",
  emailText: "The email address of your Larder account was changed. You can no longer sign in with this address.",
  emailTextByAdministrator:
    "The email address of your Larder account was changed by an administrator. You can no longer sign in with this address.",
  factors: {
    two_factor_on: "Two-factor authentication is on",
    two_factor_off: "Two-factor authentication is off",
    recovery_codes: "Your recovery codes were replaced",
    passkey_added: "A passkey was added",
    passkey_removed: "A passkey was removed",
  },
  factorTexts: {
    two_factor_on: "Two-factor authentication was turned on for your Larder account.",
    two_factor_off: "Two-factor authentication was turned off for your Larder account.",
    recovery_codes: "The recovery codes of your Larder account were replaced.",
    passkey_added: "A passkey was added to your Larder account. Anyone who has it can sign in.",
    passkey_removed: "A passkey was removed from your Larder account. You can no longer sign in with it.",
  },
  apiKey: "A new API key was created",
  apiKeyText: "The API key “{name}” was created for your Larder account. It works without a password.",
  apiKeyHint: "If you did not create it, delete it and change your password.",
  appPassword: "A new app password was created",
  appPasswordText:
    "The app password “{name}” was created for your Larder account. A program can use it to open your files.",
  appPasswordHint: "If you did not create it, end its access in Settings, under Devices, and change your password.",
  signIn: "A sign-in method was added",
  signInText: "You can now sign in to your Larder account with “{name}”.",
});
