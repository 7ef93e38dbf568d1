import type { Config } from "../../../config/settings.ts";
import { readPasswordFile } from "../../../config/secrets.ts";
import { StartupError } from "../../../config/startup-error.ts";
import type { Db } from "../../../db/open.ts";
import type { AuthService } from "../auth/service.ts";
import { AttemptSeal } from "./attempt.ts";
import { Identities, type IdentitiesOptions } from "./identities.ts";
import { OidcProvider, type ProviderOptions } from "./provider.ts";
import { OidcService } from "./service.ts";

/** The parts of this feature. */
interface OidcParts extends Pick<IdentitiesOptions, "writer" | "clock" | "log" | "users"> {
  readonly config: Pick<Config, "oidc" | "defaultPlan">;
  readonly db: Db;
  readonly auth: AuthService;
  /** The server's secret, from which the key of sign-ins in progress is derived. */
  readonly secret: Uint8Array;
  /** The options of {@link Identities}, and the label of the button. */
  readonly onLinked: (...parameters: [...Parameters<IdentitiesOptions["onLinked"]>, name: string]) => void;
}

/**
 * The provider of the configuration. No request is sent to it before the first sign-in.
 * @returns undefined if none is configured
 * @throws StartupError if settings are missing
 */
export function openProvider(
  { oidc }: Pick<Config, "oidc">,
  parts: Pick<ProviderOptions, "clock" | "log">,
): OidcProvider | undefined {
  const { issuer, clientId } = oidc;
  if (issuer === null && clientId === null) return undefined;
  if (issuer === null)
    throw new StartupError("oidc.clientId is set, but oidc.issuer is not. Set the issuer of the provider.");
  if (clientId === null) {
    throw new StartupError(
      "oidc.issuer is set, but oidc.clientId is not. Register this server at the provider, then set the client ID.",
    );
  }
  const clientSecret = oidc.clientSecretFile === null ? oidc.clientSecret : readPasswordFile(oidc.clientSecretFile);
  return new OidcProvider({ ...parts, issuer, clientId, clientSecret, scopes: oidc.scopes });
}

/** Builds the parts of the feature. @throws StartupError as {@link openProvider} */
export function openOidc(parts: OidcParts): OidcService | undefined {
  const { oidc } = parts.config;
  const provider = openProvider(parts.config, parts);
  if (provider === undefined) return undefined;
  const identities = new Identities({
    ...parts,
    ...oidc,
    sqlite: parts.db.sqlite,
    issuer: provider.issuer,
    onLinked: (tx, accountId) => parts.onLinked(tx, accountId, oidc.name),
  });
  return new OidcService({ ...parts, name: oidc.name, provider, identities, seal: new AttemptSeal(parts.secret) });
}
