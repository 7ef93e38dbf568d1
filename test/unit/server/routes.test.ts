// Compares the declaration of every route with a recorded list: access, scope of an API key, rate limit, audit. A new or
// changed route fails here until the list is updated.
import { expect, test } from "bun:test";
import { auditedAction } from "../../../src/features/administration/audit/actions.ts";
import type { DeclaredRoute } from "../../../src/features/accounts/routing/declaration.ts";
import { categoryOf, isCountedByHandler } from "../../../src/features/accounts/rate-limits/categories.ts";
import expected from "../../fixtures/routes.json";
import { mountedRoutes } from "./mounted-routes.ts";

const { all } = await mountedRoutes();

/** A path of this route, with each parameter replaced by its own name. */
function sampleOf({ path }: DeclaredRoute): string {
  return path.replace(/(?<=.)\/$/, "").replaceAll(":", "");
}

function rateOf(route: DeclaredRoute): string {
  const { rate } = route.declaration;
  const category = categoryOf(rate, sampleOf(route), "") ?? "uncounted";
  const ofThumbnail = categoryOf(rate, sampleOf(route), "thumbnail=small") ?? "uncounted";
  const words = [category, isCountedByHandler(rate) && "by handler"];
  return [...words, ofThumbnail !== category && `thumbnails ${ofThumbnail}`].filter(Boolean).join(" ");
}

function auditOf(route: DeclaredRoute): string {
  const levels = (["off", "changes", "all"] as const).filter((level) => auditedAction(route, sampleOf(route), level));
  const audited = auditedAction(route, sampleOf(route), "all");
  if (audited === undefined) return "unaudited";
  const { action, write, target, subjectId, isGuess } = audited;
  const words = [
    action,
    write,
    levels.length < 3 && `files=${levels[0]}`,
    target && `target=${[target.type, target.id].filter(Boolean).join(":")}`,
    subjectId && `account:${subjectId}`,
    isGuess && "guess",
  ];
  return words.filter(Boolean).join(" ");
}

/** Files that the server's own pages load: their names change with their content. */
const ASSET = /^\/assets\/[^:]/;

test("every route has its recorded declaration", () => {
  const listed = all.filter(({ path }) => !ASSET.test(path));
  const declared = listed.map((route) => {
    const { access, scope } = route.declaration;
    const key = `${route.method} ${route.path.replace(/(?<=.)\/$/, "")}`;
    return [key, [access, scope ?? "open", rateOf(route), auditOf(route)]];
  });
  expect(Object.fromEntries(declared)).toEqual(expected);
  expect(declared).toHaveLength(Object.keys(expected).length);
});
