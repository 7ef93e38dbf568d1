import { defineText } from "../app/text.ts";

/** What is said where the server itself did not say it. Its own messages come in English. */
export const words = defineText("requests", {
  offline: "The server can't be reached. Check the connection; it is tried again by itself where it can be.",
  unexpected: "Something went wrong on this page. Reload it; if it stays, tell the administrator.",
  notConfirmed: "Nothing was changed: it needs proof that it is you. Try again, and confirm.",
  tooLargeForProxy: "A proxy before the server refused this because it is too large for it.",
  noAnswer: "The server does not answer at the moment. Try again in a little while.",
  wordless: (status: number) =>
    `The server answered with status ${status}, without words. Try again; if it stays, tell the administrator.`,
});
