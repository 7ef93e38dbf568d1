/** /api/admin/imports: the imports of all accounts. */
import { notFound } from "../../../errors.ts";
import { ok } from "../../../http/envelope.ts";
import { IdParams } from "../../../http/fields.ts";
import { requestLanguage } from "../../../http/language.ts";
import { say } from "../../../translations/say.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { ADMIN_READ, ADMIN_ROUTE } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import type { UserService } from "../../accounts/users/service.ts";
import { AdminStartBody } from "./model.ts";
import * as docs from "./openapi.ts";
import { presentAdminImport } from "./present.ts";
import { readAdminStart, readPart } from "./requests.ts";
import type { ImportService } from "./service.ts";
import type { ImportRun } from "./types.ts";

/** Dependencies of {@link adminImportRoutes}. */
export interface AdminImportRoutesOptions {
  readonly imports: ImportService;
  readonly users: Pick<UserService, "findById" | "findByPublicId">;
  readonly guard: ReturnType<typeof authGuard>;
}

/** Routes with which administrators see, begin, and end imports. */
export function adminImportRoutes({ imports, users, guard }: AdminImportRoutesOptions) {
  const present = (run: ImportRun, request: Request) =>
    presentAdminImport(run, imports.needsSecret(run), users.findById(run.accountId), requestLanguage(request));
  return new Router({ prefix: "/api/admin/imports", guard })
    .get("", { ...ADMIN_READ, docs: docs.listAllImports }, ({ request }) => {
      const { paginate, ...part } = readPart(request);
      const { runs, total } = imports.listAll(part);
      const hasFolder = imports.importsFolder !== null;
      return ok({ imports: runs.map((run) => present(run, request)), hasFolder, pagination: paginate(total) });
    })
    .post(
      "",
      {
        ...ADMIN_ROUTE,
        audit: { action: "transfer.import", target: "import" },
        docs: docs.startForAccount,
        body: AdminStartBody,
      },
      async ({ body, set, request }) => {
        const user = users.findByPublicId(body.userId);
        if (user === undefined) throw notFound(say`This account was not found.`);
        const newImport = await readAdminStart(imports.importsFolder, user, body);
        const run = await imports.start(newImport, undefined);
        set.status = 202;
        return ok(present(run, request));
      },
    )
    .post(
      "/:id/cancel",
      {
        ...ADMIN_ROUTE,
        audit: { action: "admin.change", target: "import", targetParam: "id" },
        docs: docs.cancelAnyImport,
        params: IdParams,
        parse: "none",
      },
      async ({ params, request }) => ok(present(await imports.cancel(imports.getAny(params.id)), request)),
    );
}
