/** GET /api/users/people: people and groups to share with. */
import { invalidField, unknownAddress } from "../../../errors.ts";
import { ok } from "../../../http/envelope.ts";
import { queryOf } from "../../../http/fields.ts";
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

/**
 * Only for accounts that may share, and never with an API key: a key that leaked must not list the people of a server.
 */
export function peopleRoutes({ people, guard }: PeopleRoutesOptions) {
  return new Router({ prefix: "/api/users", guard }).get(
    "/people",
    { access: "writer", scope: "never", rate: "operations", audit: "unaudited", docs: docs.searchPeople },
    ({ principal, request }) => {
      if (!people.isOn) throw unknownAddress();
      const text = queryOf(request)["q"] ?? "";
      if (text.length > TEXT_MAX) throw invalidField("q", `q must have at most ${TEXT_MAX} characters.`);
      const found = people.search(principal.user, text);
      return ok({
        people: found.people.map(({ publicId, name, email }) => ({
          id: publicId,
          name,
          ...(people.showsEmails && { email }),
        })),
        groups: found.groups.map(({ publicId, name, members }) => ({ id: publicId, name, members })),
      });
    },
  );
}
