// A small client of the HTTP API. It follows no redirect, hides no status, and hands every answer to its server's record.
import { createHash, randomBytes } from "node:crypto";

/** What the client needs to know of a server: where it is, and where its answers are noted. */
export interface Target {
  readonly url: string;
  readonly responses: RecordedResponse[];
}

/** One answer as it came, for the checks that hold for every answer. */
export interface RecordedResponse {
  method: string;
  /** Path with query, as requested. */
  path: string;
  status: number;
  headers: Headers;
  /** Parsed body where it is JSON, else undefined. */
  json: unknown;
}

/** An account made for a test. */
export interface Account {
  id: string;
  email: string;
  password: string;
  name: string;
  token: string;
  /** A client that carries the account's token. */
  client: Client;
}

/** A whole answer: status, headers, and the body as bytes, text or JSON. */
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
   * Parsed again at each look: Bun's `toMatchObject` writes its matchers into what it compares.
   *
   * @throws SyntaxError where the body is no JSON
   */
  get json(): unknown {
    return JSON.parse(this.text);
  }

  /** The value at a dotted path of the JSON body, `data.files.0.id`; undefined where there is none. */
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
      throw new Error(`${path} is no string in ${this.status} ${this.text.slice(0, 2000)}`);
    return value;
  }

  number(path: string): number {
    const value = this.at(path);
    if (typeof value !== "number")
      throw new Error(`${path} is no number in ${this.status} ${this.text.slice(0, 2000)}`);
    return value;
  }

  list(path: string): unknown[] {
    const value = this.at(path);
    if (!Array.isArray(value)) throw new Error(`${path} is no list in ${this.status} ${this.text.slice(0, 2000)}`);
    return value;
  }

  /** The same field of every item of a list, where it is a string. */
  strings(path: string, field: string): string[] {
    return this.list(path).map((item) => {
      const value: unknown = typeof item === "object" && item !== null ? Reflect.get(item, field) : undefined;
      if (typeof value !== "string") throw new Error(`${field} is no string in ${JSON.stringify(item)}`);
      return value;
    });
  }

  /** A header that must be there. */
  header(name: string): string {
    const value = this.headers.get(name);
    if (value === null) throw new Error(`no header ${name} in answer ${this.status}`);
    return value;
  }
}

/** What a request carries beside method and path. */
export interface RequestOptions {
  headers?: Record<string, string>;
  /** Sent as JSON with its content type. */
  json?: unknown;
  /** Sent as it is. */
  body?: string | Uint8Array<ArrayBuffer> | FormData | ReadableStream<Uint8Array>;
  /** Leaves the client's token out. */
  anonymous?: boolean;
}

/** What an upload carries beside the bytes. */
export interface UploadOptions {
  name?: string;
  type?: string;
  /** Form fields before the file. */
  fields?: Record<string, string | string[]>;
  headers?: Record<string, string>;
}

/** Requests as one account, or as nobody. */
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

  /** POST files/upload with one file; the answer, whatever it is. */
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
   * An upload that must succeed.
   *
   * @returns the answer 201; its record is at `data`
   */
  async stored(content: string | Uint8Array, options: UploadOptions = {}): Promise<ApiResponse> {
    const apiResponse = await this.upload(content, options);
    if (apiResponse.status !== 201) throw new Error(`upload refused: ${apiResponse.status} ${apiResponse.text}`);
    return apiResponse;
  }

  /** Uploads and returns the id alone. */
  async storedId(content: string | Uint8Array, options: UploadOptions = {}): Promise<string> {
    return (await this.stored(content, options)).string("data.id");
  }

  /** Makes a folder that must not exist yet and returns its id. */
  async folderId(name: string, path = "/"): Promise<string> {
    const apiResponse = await this.post("/api/files/folders", { name, path });
    if (apiResponse.status !== 201) throw new Error(`folder refused: ${apiResponse.status} ${apiResponse.text}`);
    return apiResponse.string("data.id");
  }

  /** PUT of a raw body as the new content of a file. */
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

  /** Names in a folder, in the order of the listing, of at most 100 entries. */
  async names(folder = "/", query = ""): Promise<string[]> {
    const apiResponse = await this.get(`/api/files?folder=${encodeURIComponent(folder)}&limit=100${query}`);
    if (apiResponse.status !== 200) throw new Error(`listing refused: ${apiResponse.status} ${apiResponse.text}`);
    return apiResponse.strings("data.files", "name");
  }
}

/** An answer as the rules for all answers read it. */
export function toRecord(serverUrl: string, method: string, path: string, apiResponse: ApiResponse): RecordedResponse {
  const { status, headers } = apiResponse;
  // A file that happens to be JSON is content, not an answer's body.
  const isContent = status < 300 && headers.has("content-disposition");
  const isJson = !isContent && (headers.get("content-type") ?? "").includes("json");
  // As it went out: a URL loses its dot segments.
  const { pathname, search } = new URL(serverUrl + path);
  const json = isJson && apiResponse.bytes.length > 0 ? jsonOrNone(apiResponse) : undefined;
  return { method, path: pathname + search, status, headers, json };
}

function jsonOrNone(apiResponse: ApiResponse): unknown {
  try {
    return apiResponse.json;
  } catch {
    return undefined;
  }
}

/** A body's bytes; text as UTF-8. */
export function toBytes(content: string | Uint8Array): Uint8Array<ArrayBuffer> {
  return typeof content === "string" ? new TextEncoder().encode(content) : new Uint8Array(content);
}

/** `sha256:<hex>` of some bytes, as the API writes it. */
export function checksumOf(content: string | Uint8Array): string {
  return `sha256:${digestOf(content)}`;
}

/** 64 lowercase hex characters of the sha256. */
export function digestOf(content: string | Uint8Array): string {
  return createHash("sha256").update(toBytes(content)).digest("hex");
}

/** Bytes that no other test has, and that nothing compresses. */
export function randomContent(sizeBytes: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(randomBytes(sizeBytes));
}

let made = 0;

/** An address that no other account has. */
export function freshEmail(): string {
  made += 1;
  return `user${made}-${randomBytes(4).toString("hex")}@example.com`;
}

/** A new account by POST /api/auth/signup. */
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
  if (apiResponse.status !== 201) throw new Error(`sign-up refused: ${apiResponse.status} ${apiResponse.text}`);
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
