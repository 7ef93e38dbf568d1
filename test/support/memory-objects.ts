import { S3Error } from "../../src/blobs/s3/error.ts";
import type { S3Object } from "../../src/blobs/s3/client.ts";

type Failure = "none" | "before" | "after";

/** Objects in memory instead of a bucket: each request takes effect at once, and may be made to fail. */
export class MemoryObjects {
  readonly stored = new Map<string, string>();
  /** Requests fail before they take effect, as in an outage; or after it, so that only the response is lost. */
  failure: Failure | ((request: string) => Failure) = "none";
  /** Requests so far, as `read lease/00000001`. */
  readonly requests: string[] = [];
  /** Awaited by each request before it takes effect. */
  delay: () => Promise<void> = () => Promise.resolve();

  read(key: string): Promise<string | undefined> {
    return this.#request(`read ${key}`, () => this.stored.get(key));
  }

  exists(key: string): Promise<boolean> {
    return this.#request(`exists ${key}`, () => this.stored.has(key));
  }

  write(key: string, text: string): Promise<void> {
    return this.#request(`write ${key}`, () => {
      this.stored.set(key, text);
    });
  }

  createOnce(key: string, text: string): Promise<"created" | "exists"> {
    return this.#request(`create ${key}`, () => {
      if (this.stored.has(key)) return "exists";
      this.stored.set(key, text);
      return "created";
    });
  }

  remove(key: string): Promise<void> {
    return this.#request(`remove ${key}`, () => {
      this.stored.delete(key);
    });
  }

  list(prefix: string, after: string): Promise<S3Object[]> {
    return this.#request(`list ${prefix}`, () => {
      const keys = [...this.stored.keys()].filter((key) => key.startsWith(prefix) && key > after);
      return keys.sort().map((key) => ({ key, sizeBytes: 0, modifiedAtMs: 0 }));
    });
  }

  async #request<T>(name: string, effect: () => T): Promise<T> {
    this.requests.push(name);
    await this.delay();
    const failure = typeof this.failure === "string" ? this.failure : this.failure(name);
    if (failure === "before") throw away();
    const result = effect();
    if (failure === "after") throw away();
    return result;
  }
}

function away(): S3Error {
  return new S3Error("unreachable", "The service at http://memory can't be reached.");
}
