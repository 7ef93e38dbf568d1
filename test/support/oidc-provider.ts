// A local OpenID Connect provider with its login form, and a simple browser that signs in through it.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, importJWK, type JWK, type JWTPayload, SignJWT } from "jose";
import { Provider } from "oidc-provider";

/** The claims that the provider returns for a user. */
export type Claims = Record<string, unknown>;

/** Changes an ID token before it is sent, and selects the key that signs it. */
export type Forgery = (claims: JWTPayload) => { claims: JWTPayload; key: "right" | "other" };

/** The public address that Larder is configured with. The browser maps it to the real one. */
export const publicUrl = "http://files.example.test";

/** The provider of a test. */
export class TestProvider {
  /** Users by the name that they type into the login form. */
  readonly people = new Map<string, Claims>();
  readonly clientId = "larder";
  readonly clientSecret = "the secret of the client & more: 100%";
  forge: Forgery | undefined;
  /** Paths of all requests, in order. */
  readonly requests: string[] = [];
  #server: Server | undefined;
  #port = 0;
  readonly #redirectUri: string;

  /** @param larder base address of the redirect URI; with `http://127.0.0.1`, any port is accepted */
  constructor(larder = publicUrl) {
    this.#redirectUri = `${larder}/api/auth/oidc/callback`;
  }

  get issuer(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Settings of a server whose users sign in by this provider. */
  get env(): Record<string, string> {
    return {
      LARDER_OIDC_ISSUER: this.issuer,
      LARDER_OIDC_CLIENT_ID: this.clientId,
      LARDER_OIDC_CLIENT_SECRET: this.clientSecret,
      LARDER_PUBLIC_URL: publicUrl,
    };
  }

  /** Starts to listen, on the same port as before if there was one. */
  async start(): Promise<void> {
    const keys = { right: await newKey("right"), other: await newKey("right") };
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(this.#port, "127.0.0.1", resolve));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
    this.#port = (server.address() as AddressInfo).port;
    const provider = new Provider(this.issuer, {
      clients: [
        {
          client_id: this.clientId,
          client_secret: this.clientSecret,
          redirect_uris: [this.#redirectUri],
          // Native clients listen on any free port (RFC 8252 §7.3).
          ...(this.#redirectUri.startsWith("http://127.0.0.1/") && { application_type: "native" }),
          grant_types: ["authorization_code"],
          response_types: ["code"],
        },
      ],
      claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
      scopes: ["openid", "email", "profile", "groups"],
      pkce: { required: () => true },
      jwks: { keys: [keys.right] },
      cookies: { keys: ["only for tests"] },
      findAccount: (_context, id) => ({
        accountId: id,
        claims: () => ({ sub: id, ...this.people.get(id) }),
      }),
    });
    provider.use(async (context, next) => {
      this.requests.push(context.path);
      await next();
      const body: unknown = context.body;
      if (this.forge === undefined || !isTokens(body)) return;
      const { claims, key } = this.forge(claimsOf(body.id_token));
      context.body = { ...body, id_token: await sign(claims, keys[key]) };
    });
    const handle = provider.callback();
    server.on("request", (request, response) => void handle(request, response));
    this.#server = server;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    server?.closeAllConnections();
    await new Promise<void>((resolve) => {
      if (server === undefined) resolve();
      else server.close(() => resolve());
    });
  }
}

/** A page that the browser visited. */
export interface Visit {
  readonly address: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A minimal browser: cookies by origin, redirects, and the provider's forms. */
export class Browser {
  readonly #cookies = new Map<string, Map<string, string>>();
  readonly #larder: () => string;

  /** @param larder the address where Larder listens */
  constructor(larder: () => string) {
    this.#larder = larder;
  }

  /** The cookies of an origin; Larder's is {@link publicUrl}. */
  cookies(origin = publicUrl): Map<string, string> {
    const found = this.#cookies.get(origin) ?? new Map<string, string>();
    this.#cookies.set(origin, found);
    return found;
  }

  /** Sends one request and follows no redirect. */
  async visit(address: string, form?: Record<string, string>): Promise<Visit> {
    const { origin, pathname, search } = new URL(address);
    const jar = this.cookies(origin);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch((origin === publicUrl ? this.#larder() : origin) + pathname + search, {
      redirect: "manual",
      headers: {
        accept: "text/html",
        ...(cookie !== "" && { cookie }),
        ...(form !== undefined && { "content-type": "application/x-www-form-urlencoded" }),
      },
      ...(form !== undefined && { method: "POST", body: new URLSearchParams(form).toString() }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair = "", ...attributes] = line.split("; ");
      const cut = pair.indexOf("=");
      const isGone = attributes.some((attribute) => /^max-age=0$|^expires=.*1970/i.test(attribute));
      if (isGone) jar.delete(pair.slice(0, cut));
      else jar.set(pair.slice(0, cut), pair.slice(cut + 1));
    }
    return { address, status: response.status, headers: response.headers, text: await response.text() };
  }

  /** Follows redirects until `isEnd`, or until there is none. Fills in the provider's forms as this person. */
  async go(address: string, person: string, isEnd: (address: string) => boolean = () => false): Promise<Visit> {
    let next: { address: string; form?: Record<string, string> } = { address };
    for (let steps = 0; steps < 20; steps++) {
      if (isEnd(next.address)) return { address: next.address, status: 0, headers: new Headers(), text: "" };
      const visit = await this.visit(next.address, next.form);
      const location = visit.headers.get("location");
      if (visit.status >= 300 && visit.status < 400 && location !== null) {
        next = { address: new URL(location, next.address).href };
        continue;
      }
      const action = /<form[^>]* action="([^"]+)"/.exec(visit.text)?.[1];
      const prompt = /name="prompt" value="(\w+)"/.exec(visit.text)?.[1];
      if (action === undefined || prompt === undefined) return visit;
      next = {
        address: new URL(action.replaceAll("&amp;", "&"), next.address).href,
        form: prompt === "login" ? { prompt, login: person, password: "any" } : { prompt },
      };
    }
    throw new Error(`the redirects from ${address} do not end`);
  }

  /** Signs in at the provider. Returns the callback address to which the provider redirects the browser. */
  async goToCallback(person: string, query = ""): Promise<string> {
    const isBack = (address: string) => address.startsWith(`${publicUrl}/api/auth/oidc/callback`);
    return (await this.go(`${publicUrl}/api/auth/oidc/start${query}`, person, isBack)).address;
  }
}

async function newKey(kid: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg: "RS256", use: "sig" };
}

function isTokens(body: unknown): body is { id_token: string } {
  return typeof body === "object" && body !== null && "id_token" in body && typeof body.id_token === "string";
}

function claimsOf(token: string): JWTPayload {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the provider has just created it
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8")) as JWTPayload;
}

async function sign(claims: JWTPayload, key: JWK): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: "RS256", kid: key.kid ?? "" })
    .sign(await importJWK(key, "RS256"));
}
