import PostalMime, { type Address } from "postal-mime";
import { ContentFault } from "../processes/content-fault.ts";
import { addHtml } from "./html-text.ts";
import type { TextSink } from "./text-sink.ts";

/** Adds the subject, the people, the text, and the names of the attachments of an email message. */
export async function addMail(bytes: Uint8Array<ArrayBuffer>, sink: TextSink): Promise<void> {
  const mail = await PostalMime.parse(bytes).catch((error: unknown) => {
    throw new ContentFault("it is no email message", error);
  });
  const people = [mail.from, ...(mail.to ?? []), ...(mail.cc ?? [])].flatMap(describePeople);
  for (const line of [mail.subject, ...people]) {
    if (line !== undefined) sink.add(`${line}\n`);
  }
  sink.add("\n");
  if (mail.text !== undefined && mail.text.trim() !== "") sink.add(mail.text);
  else if (mail.html !== undefined) addHtml(mail.html, sink);
  for (const { filename } of mail.attachments) if (filename !== null) sink.add(`\n${filename}`);
}

function describePeople(address: Address | undefined): string[] {
  if (address === undefined) return [];
  if (address.group !== undefined) return address.group.flatMap(describePeople);
  return [`${address.name} ${address.address ?? ""}`.trim()];
}
