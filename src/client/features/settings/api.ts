/** API requests of the settings pages, with field names as in the API. */
import { queryOptions, type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ResponseData, Schemas } from "../../api/generated.ts";
import { request } from "../../api/http.ts";
import { keys, listQuery } from "../../api/queries.ts";
import type { Confirmation } from "../../ui/confirm.tsx";
import type { Usage, User } from "../../api/types.ts";
import { showError, toast } from "../../ui/toast.tsx";
import { confirm } from "../../ui/confirm.tsx";

/** The categories of notifications. */
export const CATEGORIES = ["uploads", "shares", "storage", "security"] as const;

/** When no push notifications are sent. */
export type QuietHours = Schemas["Settings"]["notifications"]["quietHours"];

/** `GET /api/users/settings` */
export type AccountSettings = Schemas["Settings"];

/** Any part of the settings, at any depth. */
export type SettingsChange = {
  readonly [K in keyof AccountSettings]?: AccountSettings[K] extends object
    ? { readonly [L in keyof AccountSettings[K]]?: Partial<AccountSettings[K][L]> | AccountSettings[K][L] }
    : AccountSettings[K];
};

/** `GET /api/users/two-factor` */
type TwoFactor = ResponseData["GET /api/users/two-factor"];

/** An entry of `GET /api/users/passkeys` */
export type Passkey = Schemas["Passkey"];

/** An entry of `GET /api/auth/oidc/link` */
export type Identity = ResponseData["GET /api/auth/oidc/link"]["identities"][number];

/** An entry of `GET /api/users/sessions` */
export type SessionItem = Schemas["Session"];

/** An entry of `GET /api/users/devices` */
export type Device = Schemas["Device"];

/** What an API key may do. */
export const SCOPES = ["files:read", "files:write", "shares", "profile", "admin"] as const;

/** An entry of `GET /api/users/api-keys` */
export type ApiKey = Schemas["ApiKey"];

/** An entry of `GET /api/users/app-passwords` */
export type AppPassword = Schemas["AppPassword"];

/** `GET /api/users/app-passwords` */
type AppPasswords = ResponseData["GET /api/users/app-passwords"];

/** `POST /api/users/app-passwords` */
export type NewAppPassword = ResponseData["POST /api/users/app-passwords"];

/** An entry of `GET /api/users/locks` */
export type FileLock = ResponseData["GET /api/users/locks"]["locks"][number];

/** An entry of `GET /api/users/holds` */
type Hold = Schemas["Holds"]["holds"][number];

/** `GET /api/users/usage/rate-limits` */
export type RateLimits = ResponseData["GET /api/users/usage/rate-limits"];

interface Lists {
  passkeys: Passkey;
  identities: Identity;
  sessions: SessionItem;
  devices: Device;
  apiKeys: ApiKey;
  locks: FileLock;
  holds: Hold;
}

interface Resources {
  profile: User;
  settings: AccountSettings;
  twoFactor: TwoFactor;
  usage: Usage;
  rateLimits: RateLimits;
  appPasswords: AppPasswords;
}

type Name = keyof Resources | keyof Lists;

/** The endpoint and the query key of each resource. */
const SOURCES: Record<Name, { readonly path: `/api/${string}`; readonly queryKey: readonly unknown[] }> = {
  profile: { path: "/api/users/profile", queryKey: keys.profile },
  settings: { path: "/api/users/settings", queryKey: keys.settings },
  twoFactor: { path: "/api/users/two-factor", queryKey: ["account", "two-factor"] },
  passkeys: { path: "/api/users/passkeys", queryKey: ["account", "passkeys"] },
  identities: { path: "/api/auth/oidc/link", queryKey: ["account", "identities"] },
  sessions: { path: "/api/users/sessions", queryKey: ["account", "sessions"] },
  devices: { path: "/api/users/devices", queryKey: ["account", "devices"] },
  apiKeys: { path: "/api/users/api-keys", queryKey: ["account", "api-keys"] },
  appPasswords: { path: "/api/users/app-passwords", queryKey: ["account", "app-passwords"] },
  locks: { path: "/api/users/locks", queryKey: ["account", "locks"] },
  holds: { path: "/api/users/holds", queryKey: ["account", "holds"] },
  usage: { path: "/api/users/usage", queryKey: keys.usage },
  rateLimits: { path: "/api/users/usage/rate-limits", queryKey: ["account", "rate-limits"] },
};

/** One resource of the account, loaded when it is shown. */
export function useResource<K extends keyof Resources>(name: K): UseQueryResult<Resources[K]> {
  return useQuery(resourceQuery(name));
}

function resourceQuery<K extends keyof Resources>(name: K) {
  const { path, queryKey } = SOURCES[name];
  return queryOptions({ queryKey, queryFn: ({ signal }) => request<Resources[K]>("GET", path, { signal }) });
}

/** The app passwords of the account. */
export function useAppPasswords(): UseQueryResult<readonly AppPassword[]> {
  return useQuery({ ...resourceQuery("appPasswords"), select: ({ appPasswords }) => appPasswords });
}

/** The address of the server for other devices, which may differ from that of this page. */
export function useServerAddress(): UseQueryResult<string> {
  return useQuery({ ...resourceQuery("appPasswords"), select: ({ url }) => serverOf(url) });
}

/** The address of the server, from its WebDAV address. */
export function serverOf(davUrl: string): string {
  return davUrl.replace(/\/dav\/$/, "");
}

/** One list of the account, loaded when it is shown. In the response it is in the field of its name. */
export function useList<K extends keyof Lists>(name: K): UseQueryResult<readonly Lists[K][]> {
  return useQuery(listQuery<Lists[K]>(SOURCES[name].queryKey, SOURCES[name].path, name));
}

/** Returns a function that reloads resources of the account. It resolves when they are loaded. */
export function useRefresh(): (...names: Name[]) => Promise<void> {
  const client = useQueryClient();
  return async (...names) => {
    await Promise.all(names.map((name) => client.invalidateQueries({ queryKey: SOURCES[name].queryKey })));
  };
}

/** Returns a function that deletes something after a confirmation, shows the result, and reloads `names`. */
export function useDelete(
  ...names: Name[]
): (path: `/api/${string}`, confirmation: Confirmation, done: string) => Promise<void> {
  const refresh = useRefresh();
  return async (path, confirmation, done) => {
    if (!(await confirm({ ...confirmation, danger: true }))) return;
    try {
      await request("DELETE", path);
      toast({ text: done, tone: "success" });
    } catch (error) {
      showError(error);
    }
    await refresh(...names);
  };
}

/** Returns a function that changes settings and shows the server's response. */
export function useChangeSettings(): (change: SettingsChange) => Promise<void> {
  const client = useQueryClient();
  return async (change) => {
    const settings = await request<AccountSettings>("PUT", "/api/users/settings", { body: change });
    client.setQueryData(SOURCES.settings.queryKey, settings);
  };
}
