/** What every route declares where it is mounted. A route that leaves one of these out does not compile. */
import type { Static, TSchema } from "@sinclair/typebox";
import type { RouteDocs } from "../../../http/documented.ts";
import type { AccessRule } from "../auth/guard.ts";
import type { Principal } from "../auth/principal.ts";
import type { Category } from "../plans/plans.ts";
import type { AuditRule } from "./audit-rule.ts";

/** What the requests of a route count as. `uncounted` is for pages and monitors, outside /api. */
export type RateRule =
  | Category
  | "uncounted"
  | {
      readonly category: Category;
      /** A request for a thumbnail counts as `general`. */
      readonly thumbnails?: "general";
      /** The handler counts, because only the body says what. Before it runs, the state of the window is shown. */
      readonly countedBy?: "handler";
    };

/** How a route takes its body; without these it takes none, or reads the stream itself (`parse: "none"`). */
interface BodyDeclaration {
  /** The JSON body. The sender is checked before it is read, and again when it has arrived. */
  readonly body?: TSchema;
  /** Whether the body may be left out; it is then `{}`. */
  readonly isBodyOptional?: true;
  /** Reads bodies of another type, to be held against the schema as JSON is; undefined leaves them to JSON. */
  readonly readOther?: (request: Request) => Promise<object> | undefined;
  /** Called before a body, or its sender, is rejected. */
  readonly onRejected?: (request: Request, headers: ResponseHeaders) => void;
  readonly parse?: "none";
}

/** What a route declares. */
export type RouteDeclaration = AccessRule &
  BodyDeclaration & {
    readonly rate: RateRule;
    readonly audit: AuditRule | "unaudited";
    /** Its text in the OpenAPI document, made when the document is requested; `hidden` for pages. */
    readonly docs: (() => RouteDocs) | "hidden";
    /** Parameters of the path, to be validated. Without it, one that cannot be decoded is undefined. */
    readonly params?: TSchema;
  };

/** The declaration of a page, or of a file that pages load: public, without a limit, unaudited, undocumented. */
export const PAGE_ROUTE = { access: "public", rate: "uncounted", audit: "unaudited", docs: "hidden" } as const;

/** The declaration of a route for administrators, without `audit` and `docs`. */
export const ADMIN_ROUTE = { access: "admin", scope: "admin", rate: "general" } as const;

/** The declaration of a route that only reads for administrators, without `docs`. */
export const ADMIN_READ = { ...ADMIN_ROUTE, audit: { action: "admin.read", write: "rejections" } } as const;

/** The declaration of a route that reads files, without `docs`. */
export const READ_FILES = { access: "reader", scope: "files:read", rate: "operations", audit: "unaudited" } as const;

/** The declaration of a route that changes files, without `audit` and `docs`. */
export const CHANGE_FILES = { access: "writer", scope: "files:write", rate: "operations" } as const;

/** Response headers as the framework keeps them until they are sent. */
export type ResponseHeaders = Record<string, string | number>;

type StaticOf<S, None> = S extends TSchema ? Static<S> : None;

/** What a handler gets. */
export interface RouteContext<D extends RouteDeclaration> {
  readonly request: Request;
  readonly set: { headers: ResponseHeaders; status?: number | string };
  readonly principal: D["access"] extends "public" ? undefined : Principal;
  readonly params: StaticOf<D["params"], Readonly<Record<string, string | undefined>>>;
  readonly body: StaticOf<D["body"], undefined>;
}

/** A route as the tables at run time know it. */
export interface DeclaredRoute {
  readonly method: string;
  /** With `:name` for each parameter, from the root. */
  readonly path: string;
  readonly declaration: RouteDeclaration;
}
