/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { RawRequest } from "../../library/files/model.ts";
import { AvatarRecord, AvatarsRecord } from "./model.ts";

export const list = (): RouteDocs => ({
  tag: "Users",
  summary: "List the people whose pictures you can see",
  description: "At most 1,000 people who have a picture: you, people you can find, and people you share with.",
  data: AvatarsRecord,
});

export const get = (): RouteDocs => ({
  tag: "Users",
  summary: "Get the picture of a person",
  description:
    "404 as for an unknown id if the person has no picture, or if you can neither find them nor receive a share of them " +
    "now. Administrators see all pictures. With `v`, the version, the response may be cached forever.",
  query: {
    size: { type: "string", enum: ["64", "256"], default: "256", description: "Width and height in pixels" },
    v: { type: "string", description: "The version of the picture" },
  },
  content: { "image/webp": "The picture" },
  otherResponses: { 304: "Not modified" },
  errors: ["not_found", "invalid_field"],
});

export const set = (): RouteDocs => ({
  tag: "Users",
  summary: "Set your picture",
  description:
    "The body is a JPEG, PNG, WebP, AVIF or GIF of at most 5 MB and 64 megapixels. Its middle square is stored, without " +
    "metadata.",
  requestBody: RawRequest,
  data: AvatarRecord,
  errors: ["file_too_large", "unsupported_media_type", "overloaded"],
});

export const remove = (): RouteDocs => ({
  tag: "Users",
  summary: "Remove your picture",
  data: AvatarRecord,
});

export const removeOf = (): RouteDocs => ({
  tag: "Administration",
  summary: "Remove the picture of a person",
  data: AvatarRecord,
  errors: ["not_found"],
});
