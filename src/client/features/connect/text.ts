import { defineText } from "../../base/text.ts";

/** The text of the page on which a person allows a program to connect. */
export const text = defineText("connect", {
  title: "Connect a program",
  lead: "“{program}” asks for access to your files.",
  warning: "Only continue if you started this yourself.",
  warningLead:
    "Somebody may have sent you this link to get access to your files. If you don't know the program, select Deny.",
  account: "Your account",
  otherAccount: "Use another account",
  program: "Program",
  address: "From address",
  time: "Requested",
  expires: "Expires",
  access: "What it may do",
  name: "Name",
  nameHint: "The program gets its own app password. Settings lists it by this name.",
  allow: "Allow access",
  deny: "Deny",
  allowed: "You can return to the program",
  allowedLead: "“{name}” has its own app password now. You can end its access at any time in Settings, under Devices.",
  openProgram: "Return to the program",
  denied: "Access denied",
  deniedLead: "The program can't open your files. You can close this page.",
  gone: "This request does not work anymore",
  goneLead: "It has expired, or somebody used it already. Start again in the program.",
  toFiles: "Go to your files",
  toDevices: "See connected devices",
});
