/** The declaration that every route is mounted with. A route without a required field does not compile. */
import type { Static, TSchema } from "@sinclair/typebox";
import type { RouteDocs } from "../../../http/documented.ts";
import type { Access, AccessRule } from "../auth/guard.ts";
import type { AppPasswordPrincipal, Principal } from "../auth/principal.ts";
import type { Category } from "../plans/plans.ts";
import type { AuditRule } from "./audit-rule.ts";

/** The rate limit that the requests of a route count towards. `uncounted` is for pages and monitors, outside /api. */
export type RateRule =
  | Category
  | "uncounted"
  | {
      readonly category: Category;
      /** A request for a thumbnail counts as `general`. */
      readonly thumbnails?: "general";
      /** The handler counts, because the category depends on the body. Until then, the headers only show the window. */
      readonly countedBy?: "handler";
    };

/** How the body is read. Without these fields there is none, or the handler reads the stream (`parse: "none"`). */
interface BodyDeclaration {
  /** The schema of the JSON body. The sender is checked before the body is read and again afterwards. */
  readonly body?: TSchema;
  /** The body may be absent, and is then `{}`. */
  readonly isBodyOptional?: true;
  /** Reads bodies of another type, which are validated like JSON. Returns undefined for JSON bodies. */
  readonly readOther?: (request: Request) => Promise<object> | undefined;
  /** Called before the rejection of a body or its sender. */
  readonly onRejected?: (request: Request, headers: ResponseHeaders) => void;
  readonly parse?: "none";
}

/** The declaration of a route. */
export type RouteDeclaration = AccessRule &
  BodyDeclaration & {
    readonly rate: RateRule;
    readonly audit: AuditRule | "unaudited";
    /** The text in the OpenAPI document, created when the document is requested; `hidden` for pages. */
    readonly docs: (() => RouteDocs) | "hidden";
    /**
     * Whether responses acknowledge changes: that a change is safe. By default, all do except those to methods for reading.
     * Such responses wait until the change is where the setting `blobs.acknowledge` demands.
     */
    readonly acknowledges?: boolean;
    /** Schema of the path parameters. Without it, a parameter that can't be decoded is undefined. */
    readonly params?: TSchema;
  };

/** Declares a page, or a file that pages load. */
export const PAGE_ROUTE = { access: "public", rate: "uncounted", audit: "unaudited", docs: "hidden" } as const;

/** Declares a route for administrators, except `audit` and `docs`. */
export const ADMIN_ROUTE = { access: "admin", scope: "admin", rate: "general" } as const;

/** Declares a route with which administrators read, except `docs`. */
export const ADMIN_READ = { ...ADMIN_ROUTE, audit: { action: "admin.read", write: "rejections" } } as const;

/** Declares a route that reads files, except `docs`. */
export const READ_FILES = { access: "reader", scope: "files:read", rate: "operations", audit: "unaudited" } as const;

/** Declares a route that changes files, except `audit` and `docs`. */
export const CHANGE_FILES = { access: "writer", scope: "files:write", rate: "operations" } as const;

/** Declares a route for WebDAV and sync programs, except `audit`. */
export const CLIENT_ROUTE = { access: "client", rate: "dav", docs: "hidden" } as const;

/** Response headers as the framework stores them until they are sent. */
export type ResponseHeaders = Record<string, string | number>;

type StaticOf<S, None> = S extends TSchema ? Static<S> : None;

type PrincipalOf<A extends Access> = A extends "public"
  ? undefined
  : A extends "client"
    ? AppPasswordPrincipal
    : Principal;

/** The parameter of a handler. */
export interface RouteContext<D extends RouteDeclaration> {
  readonly request: Request;
  readonly set: { headers: ResponseHeaders; status?: number | string };
  readonly principal: PrincipalOf<D["access"]>;
  readonly params: StaticOf<D["params"], Readonly<Record<string, string | undefined>>>;
  readonly body: StaticOf<D["body"], undefined>;
}

/** A route in the table of all routes. */
export interface DeclaredRoute {
  readonly method: string;
  /** The full path, with `:name` for each parameter. */
  readonly path: string;
  readonly declaration: RouteDeclaration;
}
