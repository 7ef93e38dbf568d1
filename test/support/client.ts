// A small client of the HTTP API. It follows no redirects, hides no status, and records every response with its server.
import { createHash, randomBytes } from "node:crypto";

/** A server as the client sees it: its address, and the list that records its responses. */
export interface Target {
  readonly url: string;
  readonly responses: RecordedResponse[];
}

/** One response, recorded for the checks that hold for every response. */
export interface RecordedResponse {
  method: string;
  /** Path and query, as requested. */
  path: string;
  status: number;
  headers: Headers;
  /** The parsed body if it is JSON, else undefined. */
  json: unknown;
  /** The body of an error as text; undefined for other responses, which may be large. */
  errorText?: string | undefined;
}

/** An account created for a test. */
export interface Account {
  id: string;
  email: string;
  password: string;
  name: string;
  token: string;
  /** A client that carries the account's token. */
  client: Client;
}

/** A complete response: status, headers, and the body as bytes, text or JSON. */
export class ApiResponse {
  private decoded: string | undefined;

  constructor(
    readonly status: number,
    readonly headers: Headers,
    readonly bytes: Uint8Array,
  ) {}

  get text(): string {
    this.decoded ??= new TextDecoder().decode(this.bytes);
    return this.decoded;
  }

  /**
   * Parsed again on each access: Bun's `toMatchObject` writes its matchers into the object that it compares.
   *
   * @throws SyntaxError if the body is not JSON
   */
  get json(): unknown {
    return JSON.parse(this.text);
  }

  /** The value at a dotted path of the JSON body, `data.files.0.id`; undefined if there is none. */
  at(path: string): unknown {
    let value = this.json;
    for (const key of path.split(".")) {
      if (typeof value !== "object" || value === null) return undefined;
      value = Reflect.get(value, key);
    }
    return value;
  }

  string(path: string): string {
    const value = this.at(path);
    if (typeof value !== "string")
      throw new Error(`${path} is not a string in ${this.status} ${this.text.slice(0, 2000)}`);
    return value;
  }

  number(path: string): number {
    const value = this.at(path);
    if (typeof value !== "number")
      throw new Error(`${path} is not a number in ${this.status} ${this.text.slice(0, 2000)}`);
    return value;
  }

  list(path: string): unknown[] {
    const value = this.at(path);
    if (!Array.isArray(value)) throw new Error(`${path} is not a list in ${this.status} ${this.text.slice(0, 2000)}`);
    return value;
  }

  /** One field, a string, of every item in a list. */
  strings(path: string, field: string): string[] {
    return this.list(path).map((item) => {
      const value: unknown = typeof item === "object" && item !== null ? Reflect.get(item, field) : undefined;
      if (typeof value !== "string") throw new Error(`${field} is not a string in ${JSON.stringify(item)}`);
      return value;
    });
  }

  /** The value of a header. @throws Error if the response does not have it */
  header(name: string): string {
    const value = this.headers.get(name);
    if (value === null) throw new Error(`no header ${name} in response ${this.status}`);
    return value;
  }
}

/** What a request carries in addition to method and path. */
export interface RequestOptions {
  headers?: Record<string, string>;
  /** Sent as JSON with the matching Content-Type. */
  json?: unknown;
  /** Sent unchanged. */
  body?: string | Uint8Array<ArrayBuffer> | FormData | ReadableStream<Uint8Array>;
  /** Omits the client's token. */
  anonymous?: boolean;
}

/** What an upload carries in addition to the bytes. */
export interface UploadOptions {
  name?: string;
  type?: string;
  /** Form fields before the file. */
  fields?: Record<string, string | string[]>;
  headers?: Record<string, string>;
}

/** Sends requests for one account, or without credentials. */
export class Client {
  constructor(
    readonly target: Target,
    readonly token?: string,
  ) {}

  async request(method: string, path: string, options: RequestOptions = {}): Promise<ApiResponse> {
    const headers = new Headers(options.headers);
    if (this.token !== undefined && options.anonymous !== true && !headers.has("authorization"))
      headers.set("authorization", `Bearer ${this.token}`);
    let body = options.body;
    if (options.json !== undefined) {
      body = JSON.stringify(options.json);
      if (!headers.has("content-type")) headers.set("content-type", "application/json");
    }
    const response = await fetch(this.target.url + path, {
      method,
      headers,
      redirect: "manual",
      ...(body === undefined ? {} : { body }),
    });
    const apiResponse = new ApiResponse(
      response.status,
      response.headers,
      new Uint8Array(await response.arrayBuffer()),
    );
    this.target.responses.push(toRecord(this.target.url, method, path, apiResponse));
    return apiResponse;
  }

  async get(path: string, headers?: Record<string, string>): Promise<ApiResponse> {
    return this.request("GET", path, headers === undefined ? {} : { headers });
  }

  async head(path: string, headers?: Record<string, string>): Promise<ApiResponse> {
    return this.request("HEAD", path, headers === undefined ? {} : { headers });
  }

  async post(path: string, json?: unknown, headers?: Record<string, string>): Promise<ApiResponse> {
    return this.request("POST", path, {
      ...(json === undefined ? {} : { json }),
      ...(headers === undefined ? {} : { headers }),
    });
  }

  async put(path: string, json?: unknown, headers?: Record<string, string>): Promise<ApiResponse> {
    return this.request("PUT", path, {
      ...(json === undefined ? {} : { json }),
      ...(headers === undefined ? {} : { headers }),
    });
  }

  async patch(path: string, json?: unknown): Promise<ApiResponse> {
    return this.request("PATCH", path, json === undefined ? {} : { json });
  }

  async delete(path: string, json?: unknown): Promise<ApiResponse> {
    return this.request("DELETE", path, json === undefined ? {} : { json });
  }

  /** Sends POST /api/files/upload with one file. Returns the response with any status. */
  async upload(content: string | Uint8Array, options: UploadOptions = {}): Promise<ApiResponse> {
    const form = new FormData();
    for (const [name, value] of Object.entries(options.fields ?? {}))
      for (const one of Array.isArray(value) ? value : [value]) form.append(name, one);
    form.append("file", new File([toBytes(content)], options.name ?? "file.txt", { type: options.type ?? "" }));
    return this.request("POST", "/api/files/upload", {
      body: form,
      ...(options.headers === undefined ? {} : { headers: options.headers }),
    });
  }

  /**
   * Uploads a file, which must succeed.
   *
   * @returns the 201 response; the file's record is at `data`
   */
  async stored(content: string | Uint8Array, options: UploadOptions = {}): Promise<ApiResponse> {
    const apiResponse = await this.upload(content, options);
    if (apiResponse.status !== 201) throw new Error(`upload failed: ${apiResponse.status} ${apiResponse.text}`);
    return apiResponse;
  }

  /** Uploads a file, which must succeed, and returns its id. */
  async storedId(content: string | Uint8Array, options: UploadOptions = {}): Promise<string> {
    return (await this.stored(content, options)).string("data.id");
  }

  /** Creates a folder, which must not exist yet, and returns its id. */
  async folderId(name: string, path = "/"): Promise<string> {
    const apiResponse = await this.post("/api/files/folders", { name, path });
    if (apiResponse.status !== 201)
      throw new Error(`creating the folder failed: ${apiResponse.status} ${apiResponse.text}`);
    return apiResponse.string("data.id");
  }

  /** Sends a raw body by PUT as the new content of a file. */
  async putContent(
    id: string,
    content: string | Uint8Array,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse> {
    return this.request("PUT", `/api/files/${id}/content`, {
      body: toBytes(content),
      headers: { "content-type": "application/octet-stream", ...headers },
    });
  }

  /** The names in a folder in the order of the listing, at most 100. */
  async names(folder = "/", query = ""): Promise<string[]> {
    const apiResponse = await this.get(`/api/files?folder=${encodeURIComponent(folder)}&limit=100${query}`);
    if (apiResponse.status !== 200) throw new Error(`listing failed: ${apiResponse.status} ${apiResponse.text}`);
    return apiResponse.strings("data.files", "name");
  }
}

/** Converts a response for the checks that hold for every response. */
export function toRecord(serverUrl: string, method: string, path: string, apiResponse: ApiResponse): RecordedResponse {
  const { status, headers } = apiResponse;
  // A downloaded file that happens to be JSON is not a JSON response.
  const isContent = status < 300 && headers.has("content-disposition");
  const isJson = !isContent && (headers.get("content-type") ?? "").includes("json");
  // A URL loses its dot segments when it is sent.
  const { pathname, search } = new URL(serverUrl + path);
  const json = isJson && apiResponse.bytes.length > 0 ? jsonOrNone(apiResponse) : undefined;
  const errorText = status < 400 ? undefined : apiResponse.text;
  return { method, path: pathname + search, status, headers, json, errorText };
}

function jsonOrNone(apiResponse: ApiResponse): unknown {
  try {
    return apiResponse.json;
  } catch {
    return undefined;
  }
}

/** The bytes of a body; text is encoded as UTF-8. */
export function toBytes(content: string | Uint8Array): Uint8Array<ArrayBuffer> {
  return typeof content === "string" ? new TextEncoder().encode(content) : new Uint8Array(content);
}

/** The checksum in the form of the API: `sha256:<hex>`. */
export function checksumOf(content: string | Uint8Array): string {
  return `sha256:${digestOf(content)}`;
}

/** The SHA-256 as 64 lowercase hex characters. */
export function digestOf(content: string | Uint8Array): string {
  return createHash("sha256").update(toBytes(content)).digest("hex");
}

/** Incompressible bytes that no other test uses. */
export function randomContent(sizeBytes: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(randomBytes(sizeBytes));
}

let emailCount = 0;

/** An email address that no other account has. */
export function freshEmail(): string {
  emailCount += 1;
  return `user${emailCount}-${randomBytes(4).toString("hex")}@example.com`;
}

/** Creates an account by POST /api/auth/signup. */
export async function signUp(
  target: Target,
  options: { name?: string; email?: string; password?: string } = {},
): Promise<Account> {
  const email = options.email ?? freshEmail();
  const password = options.password ?? "correct horse battery";
  const apiResponse = await new Client(target).post("/api/auth/signup", {
    email,
    password,
    name: options.name ?? "Test User",
  });
  if (apiResponse.status !== 201) throw new Error(`sign-up failed: ${apiResponse.status} ${apiResponse.text}`);
  const token = apiResponse.string("token");
  return {
    id: apiResponse.string("user.id"),
    email,
    password,
    name: apiResponse.string("user.name"),
    token,
    client: new Client(target, token),
  };
}
