/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { GroupPeopleRecord, PeopleRecord, TEXT_MAX } from "./model.ts";

export const searchPeople = (): RouteDocs => ({
  tag: "Users",
  summary: "Find people and groups to share with",
  description:
    "At most 10 people and 5 groups with a word that begins with `q`, by name. Only if the setting `showPeople` is on: " +
    "otherwise 404, as for an unknown address. Disabled accounts are not found.",
  query: { q: { type: "string", maxLength: TEXT_MAX, description: "Empty finds the first by name" } },
  data: PeopleRecord,
  errors: ["not_found", "invalid_field"],
});

export const listMembers = (): RouteDocs => ({
  tag: "Users",
  summary: "List the people of a group that you share with",
  description:
    "At most 100 people by name, and how many there are. Only if the setting `showPeople` is on, and only while you share " +
    "something with the group: otherwise 404. Disabled accounts are left out.",
  data: GroupPeopleRecord,
  errors: ["not_found"],
});
