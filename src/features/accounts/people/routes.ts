/** GET /api/users/people: people and groups to share with; and who is in a group. */
import { invalidField, notFound, unknownAddress } from "../../../errors.ts";
import { ok } from "../../../http/envelope.ts";
import { IdParams, queryOf } from "../../../http/fields.ts";
import { say } from "../../../translations/say.ts";
import type { authGuard } from "../auth/guard.ts";
import { Router } from "../routing/router.ts";
import * as docs from "./openapi.ts";
import { TEXT_MAX } from "./model.ts";
import type { PeopleService } from "./service.ts";

/** Dependencies of these routes. */
export interface PeopleRoutesOptions {
  readonly people: PeopleService;
  readonly guard: ReturnType<typeof authGuard>;
}

const ROUTE = { access: "writer", scope: "never", rate: "operations", audit: "unaudited" } as const;

/**
 * Only for accounts that may share, and never with an API key: a key that leaked must not list the people of a server.
 */
export function peopleRoutes({ people, guard }: PeopleRoutesOptions) {
  return new Router({ prefix: "/api/users", guard })
    .get("/people", { ...ROUTE, docs: docs.searchPeople }, ({ principal, request }) => {
      if (!people.isOn) throw unknownAddress();
      const text = queryOf(request)["q"] ?? "";
      if (text.length > TEXT_MAX) throw invalidField("q", say`q must have at most ${TEXT_MAX} characters.`);
      const found = people.search(principal.user, text);
      return ok({
        people: found.people.map(({ publicId, name, email }) => ({
          id: publicId,
          name,
          ...(people.showsEmails && { email }),
        })),
        groups: found.groups.map(({ publicId, name, members }) => ({ id: publicId, name, members })),
      });
    })
    .get("/groups/:id/members", { ...ROUTE, docs: docs.listMembers, params: IdParams }, ({ principal, params }) => {
      if (!people.isOn) throw unknownAddress();
      const found = people.members(principal.user, params.id);
      if (found === undefined) throw notFound(say`This group was not found.`);
      return ok({ people: found.people.map(({ publicId, name }) => ({ id: publicId, name })), total: found.total });
    });
}
