/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { DecisionRecord, HoldsRecord } from "./model.ts";

export const listOfDevice = (): RouteDocs => ({
  tag: "Mobile",
  summary: "List the holds of a device",
  description:
    "A device that deletes or replaces unusually many files is stopped until a person has decided. This covers " +
    "sync/files, its queue, its conflicts and upload/init. Requests under /api/files count as done by a person: " +
    "they are neither counted nor stopped, with any token.",
  data: HoldsRecord,
  errors: ["not_found", "invalid_field"],
});

export const decideOnDevice = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Accept or decline the changes of a device",
  description: "Changes of a device that delete unusually many files wait for this decision.",
  data: DecisionRecord,
  errors: ["not_found", "version_conflict"],
});

export const list = (): RouteDocs => ({
  tag: "Users",
  summary: "List the holds of your devices",
  description: "Changes that delete unusually many files wait for a decision.",
  data: HoldsRecord,
});

export const decide = (): RouteDocs => ({
  tag: "Users",
  summary: "Accept or decline the changes of one of your devices",
  description: "Changes of a device that delete unusually many files wait for this decision.",
  data: DecisionRecord,
  errors: ["not_found", "version_conflict"],
});
