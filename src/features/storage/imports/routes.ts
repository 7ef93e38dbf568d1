/** /api/imports: imports from other systems into the own files. */
import { ok } from "../../../http/envelope.ts";
import { IdParams } from "../../../http/fields.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { CHANGE_FILES, READ_FILES } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import { ResumeBody, StartBody } from "./model.ts";
import * as docs from "./openapi.ts";
import { presentImport } from "./present.ts";
import { readPart, readStart, type StartRequestOptions } from "./requests.ts";
import type { ImportService } from "./service.ts";
import type { ImportRun } from "./types.ts";

/** Dependencies of {@link importRoutes}. */
export interface ImportRoutesOptions extends StartRequestOptions {
  readonly imports: ImportService;
  readonly guard: ReturnType<typeof authGuard>;
}

/** Routes for the imports of an account. */
export function importRoutes({ imports, guard, ...options }: ImportRoutesOptions) {
  const present = (run: ImportRun) => ok(presentImport(run, imports.needsSecret(run)));
  const change = { ...CHANGE_FILES, audit: "unaudited", params: IdParams } as const;
  return new Router({ prefix: "/api/imports", guard })
    .post(
      "",
      {
        ...CHANGE_FILES,
        audit: { action: "transfer.import", target: "import" },
        docs: docs.startImport,
        body: StartBody,
      },
      async ({ principal, body, set }) => {
        const newImport = await readStart(options, principal.user, body);
        const run = await imports.start(newImport, body.secret);
        set.status = 202;
        return present(run);
      },
    )
    .get("", { ...READ_FILES, docs: docs.listImports, acknowledges: true }, ({ principal, request }) => {
      const { paginate, ...part } = readPart(request);
      const { runs, total } = imports.list(principal.user, part);
      const shown = runs.map((run) => presentImport(run, imports.needsSecret(run)));
      return ok({ imports: shown, pagination: paginate(total) });
    })
    .get(
      "/:id",
      // The end of an import says that its files are safe.
      { ...READ_FILES, rate: "listing", docs: docs.getImport, params: IdParams, acknowledges: true },
      ({ principal, params }) => present(imports.get(principal.user, params.id)),
    )
    .get("/:id/problems", { ...READ_FILES, docs: docs.listProblems, params: IdParams }, (context) => {
      const { principal, params, request } = context;
      const run = imports.get(principal.user, params.id);
      const { paginate, ...part } = readPart(request);
      const { problems, total } = imports.problems(run, part);
      return ok({ problems, pagination: paginate(total) });
    })
    .post("/:id/pause", { ...change, docs: docs.pauseImport, parse: "none" }, async ({ principal, params }) =>
      present(await imports.pause(imports.get(principal.user, params.id))),
    )
    .post(
      "/:id/resume",
      { ...change, docs: docs.resumeImport, body: ResumeBody, isBodyOptional: true },
      async ({ principal, params, body }) =>
        present(await imports.resume(imports.get(principal.user, params.id), body.secret)),
    )
    .post("/:id/cancel", { ...change, docs: docs.cancelImport, parse: "none" }, async ({ principal, params }) =>
      present(await imports.cancel(imports.get(principal.user, params.id))),
    );
}
