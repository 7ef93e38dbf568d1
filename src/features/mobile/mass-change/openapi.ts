/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { DecisionRecord, HoldsRecord } from "./model.ts";

export const listOfDevice = (): RouteDocs => ({
  tag: "Mobile",
  summary: "What a device asked for and waits for your word",
  description:
    "A device that deletes or replaces far more than usual, by sync/files, its queue, its conflicts or upload/init, " +
    "is stopped until a person has looked. What a person does to files and folders by the endpoints under " +
    "/api/files is meant: it is neither counted nor stopped, whatever token it comes with.",
  data: HoldsRecord,
  errors: ["not_found", "invalid_field"],
});

export const decideOnDevice = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Accept or decline what a device asked for",
  description: "Changes of a device that delete unusually much wait for this decision.",
  data: DecisionRecord,
  errors: ["not_found", "version_conflict"],
});

export const list = (): RouteDocs => ({
  tag: "Users",
  summary: "What your devices asked for and waits for your word",
  description: "Changes that delete unusually much wait for a decision.",
  data: HoldsRecord,
});

export const decide = (): RouteDocs => ({
  tag: "Users",
  summary: "Accept or decline what a device asked for",
  description: "Changes of a device that delete unusually much wait for this decision.",
  data: DecisionRecord,
  errors: ["not_found", "version_conflict"],
});
