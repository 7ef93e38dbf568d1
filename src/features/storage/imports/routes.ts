/** /api/imports: imports from other systems into the own files. */
import { ok } from "../../../http/envelope.ts";
import { IdParams } from "../../../http/fields.ts";
import { requestLanguage } from "../../../http/language.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { CHANGE_FILES, READ_FILES } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import { ResumeBody, StartBody } from "./model.ts";
import * as docs from "./openapi.ts";
import { presentImport, presentProblem } from "./present.ts";
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
  const record = (run: ImportRun, request: Request) =>
    presentImport(run, imports.needsSecret(run), requestLanguage(request));
  const present = (run: ImportRun, request: Request) => ok(record(run, request));
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
      async ({ principal, body, set, request }) => {
        const newImport = await readStart(options, principal.user, body);
        const run = await imports.start(newImport, body.secret);
        set.status = 202;
        return present(run, request);
      },
    )
    .get("", { ...READ_FILES, docs: docs.listImports, acknowledges: true }, ({ principal, request }) => {
      const { paginate, ...part } = readPart(request);
      const { runs, total } = imports.list(principal.user, part);
      const shown = runs.map((run) => record(run, request));
      return ok({ imports: shown, pagination: paginate(total) });
    })
    .get(
      "/:id",
      // The end of an import says that its files are safe.
      { ...READ_FILES, rate: "listing", docs: docs.getImport, params: IdParams, acknowledges: true },
      ({ principal, params, request }) => present(imports.get(principal.user, params.id), request),
    )
    .get("/:id/problems", { ...READ_FILES, docs: docs.listProblems, params: IdParams }, (context) => {
      const { principal, params, request } = context;
      const run = imports.get(principal.user, params.id);
      const { paginate, ...part } = readPart(request);
      const { problems, total } = imports.problems(run, part);
      const language = requestLanguage(request);
      const shown = problems.map((problem) => presentProblem(problem, language));
      return ok({ problems: shown, pagination: paginate(total) });
    })
    .post("/:id/pause", { ...change, docs: docs.pauseImport, parse: "none" }, async ({ principal, params, request }) =>
      present(await imports.pause(imports.get(principal.user, params.id)), request),
    )
    .post(
      "/:id/resume",
      { ...change, docs: docs.resumeImport, body: ResumeBody, isBodyOptional: true },
      async ({ principal, params, body, request }) =>
        present(await imports.resume(imports.get(principal.user, params.id), body.secret), request),
    )
    .post(
      "/:id/cancel",
      { ...change, docs: docs.cancelImport, parse: "none" },
      async ({ principal, params, request }) =>
        present(await imports.cancel(imports.get(principal.user, params.id)), request),
    );
}
