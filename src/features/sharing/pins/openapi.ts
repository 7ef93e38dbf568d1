/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { PinsRecord } from "./model.ts";

export const list = (): RouteDocs => ({
  tag: "Files",
  summary: "List your pins",
  description:
    "The folders and albums in your sidebar, in order, your own and those shared with you. Pins of what you can't open " +
    "are left out until you can open it again. Paths of shared folders begin at the share.",
  data: PinsRecord,
});

export const add = (): RouteDocs => ({
  tag: "Files",
  summary: "Pin a folder or album, or move its pin",
  description: "At most 50. Returns all pins.",
  data: PinsRecord,
  errors: ["invalid_field", "not_found", "quota_exceeded"],
});

export const remove = (): RouteDocs => ({
  tag: "Files",
  summary: "Remove a pin",
  description: "Succeeds too if it is not pinned. Returns the other pins.",
  data: PinsRecord,
});
