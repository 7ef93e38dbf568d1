// The account's owner in a browser, while the phones sync: uploads, renames, moves, replaces and deletes.
import { type ApiResponse, type PhoneRequest, type SeenResponse, LineDown, checksumOf, send, textOf } from "./http.ts";
import type { Ledger } from "./ledger.ts";
import type { Random } from "./random.ts";

/** Options of {@link WebClient}. */
interface WebOptions {
  url: string;
  token: string;
  random: Random;
  ledger: Ledger;
  onResponse?: (response: SeenResponse) => void;
}

/** A file in a listing. */
export interface ListedFile {
  id: string;
  name: string;
  folder: string;
  checksum: string;
}

/** All files of the account. */
async function listFiles(get: (path: string) => Promise<ApiResponse>): Promise<ListedFile[]> {
  const files: ListedFile[] = [];
  for (let page = 1; ; page++) {
    const response = (await get(`/api/files?recursive=true&type=file&limit=100&page=${page}`)).expect(200);
    for (const record of response.records("data.files"))
      files.push({
        id: textOf(record, "id"),
        name: textOf(record, "name"),
        folder: textOf(record, "folder"),
        checksum: textOf(record, "checksum"),
      });
    if (response.at("data.pagination.hasNext") !== true) return files;
  }
}

/** A browser. */
export class WebClient {
  constructor(private readonly options: WebOptions) {}

  /** Sends a request with the session's token. */
  async call(
    method: string,
    path: string,
    more: Pick<PhoneRequest, "json" | "body" | "headers"> = {},
  ): Promise<ApiResponse> {
    const { url, token, onResponse } = this.options;
    return send(
      { method, url: url + path, ...more, headers: { authorization: `Bearer ${token}`, ...more.headers } },
      onResponse,
    );
  }

  async files(): Promise<ListedFile[]> {
    return listFiles((path) => this.call("GET", path));
  }

  /** Performs a random action. */
  async use(): Promise<void> {
    const { random } = this.options;
    const action = random.fraction();
    if (action < 0.3) await this.upload();
    else if (action < 0.45) await this.moveOrRename();
    else if (action < 0.6) await this.replace();
    else if (action < 0.75) await this.moveFolder();
    else if (action < 0.87) await this.delete();
    else if (action < 0.9) await this.deleteFolder();
    else if (action < 0.93) await this.copy();
    else if (action < 0.96) await this.trash();
    else if (action < 0.98) await this.restoreTrash();
    else await this.restoreVersion();
  }

  /** Uploads a file with unique content. */
  async upload(
    folder = this.anyFolder(),
    name = `web-${this.options.random.between(1, 1_000_000)}.bin`,
  ): Promise<string> {
    const { random, ledger } = this.options;
    const content = random.bytes(random.between(1, 20_000) + 8);
    const checksum = checksumOf(content);
    ledger.created(checksum, "the browser uploaded it");
    const form = new FormData();
    form.append("folder", folder);
    form.append("file", new File([content], name));
    const response = await this.abandonIfUnanswered(checksum, () =>
      this.call("POST", "/api/files/upload", { body: form }),
    );
    const id = response.expect(201).text("data.id");
    ledger.stored(checksum, id);
    return id;
  }

  /** Deletes a file. */
  async deleteFile(id: string): Promise<void> {
    this.options.ledger.willDelete(id, "browser");
    (await this.call("DELETE", `/api/files/${id}`)).expect(200, 404);
  }

  private async replace(): Promise<void> {
    const { random, ledger } = this.options;
    const file = random.pick(await this.files());
    if (file === undefined) return;
    const content = random.bytes(random.between(1, 20_000) + 8);
    const checksum = checksumOf(content);
    ledger.created(checksum, `the browser replaced ${file.name} with it`);
    const response = await this.abandonIfUnanswered(checksum, () =>
      this.call("PUT", `/api/files/${file.id}/content`, {
        body: content,
        headers: { "content-type": "application/octet-stream" },
      }),
    );
    if (response.expect(200, 404).status === 200) ledger.stored(checksum, file.id);
    else ledger.abandoned(checksum, "its file was deleted before");
  }

  private async moveOrRename(): Promise<void> {
    const { random } = this.options;
    const file = random.pick(await this.files());
    if (file === undefined) return;
    const change = random.chance(0.5)
      ? { name: `renamed-${random.between(1, 1_000_000)}` }
      : { folder: this.anyFolder() };
    (await this.call("PUT", `/api/files/${file.id}`, { json: change })).expect(200, 404, 409);
  }

  private async moveFolder(): Promise<void> {
    const { random } = this.options;
    const folder = await this.anyExistingFolder();
    if (folder === undefined) return;
    const json = random.chance(0.5)
      ? { name: `Folder ${random.between(1, 20)}` }
      : { path: random.choose("/", "/Archive", "/Albums") };
    // A move into itself returns 400.
    (await this.call("PUT", `/api/files/folders/${folder}`, { json })).expect(200, 400, 404, 409);
  }

  private async deleteFolder(): Promise<void> {
    const { ledger } = this.options;
    const folder = await this.anyExistingFolder();
    if (folder === undefined) return;
    const window = { fromMs: Date.now() - 1000, toMs: Number.MAX_SAFE_INTEGER };
    ledger.folderDeletions.push(window);
    try {
      (await this.call("DELETE", `/api/files/folders/${folder}?recursive=true`)).expect(200, 404);
    } finally {
      window.toMs = Date.now() + 1000;
    }
  }

  private async delete(): Promise<void> {
    const file = this.options.random.pick(await this.files());
    if (file !== undefined) await this.deleteFile(file.id);
  }

  private async copy(): Promise<void> {
    const { random, ledger } = this.options;
    const file = random.pick(await this.files());
    if (file === undefined) return;
    ledger.intendedDuplicates.add(file.checksum);
    const json = { fileIds: [file.id], destinationFolder: this.anyFolder() };
    const response = (await this.call("POST", "/api/files/copy", { json })).expect(201, 404);
    if (response.status === 201)
      for (const copy of response.records("data.copied")) {
        ledger.intendedDuplicates.add(textOf(copy, "checksum"));
        ledger.stored(textOf(copy, "checksum"), textOf(copy, "id"));
      }
  }

  /** Moves a file to the trash. If it is restored, its phone may have uploaded the same content again. */
  private async trash(): Promise<void> {
    const { random, ledger } = this.options;
    const file = random.pick(await this.files());
    if (file === undefined) return;
    ledger.willDelete(file.id, "the browser's trash");
    ledger.intendedDuplicates.add(file.checksum);
    (await this.call("POST", "/api/files/trash", { json: { fileIds: [file.id] } })).expect(200, 404);
  }

  private async restoreTrash(): Promise<void> {
    const trashed = (await this.call("GET", "/api/files/trash?limit=100")).expect(200).records("data.files");
    const fileIds = trashed.map((record) => textOf(record, "id"));
    if (fileIds.length === 0) return;
    (await this.call("POST", "/api/files/trash/restore", { json: { fileIds } })).expect(200, 404);
  }

  private async restoreVersion(): Promise<void> {
    const { random, ledger } = this.options;
    const file = random.pick(await this.files());
    if (file === undefined) return;
    const listed = (await this.call("GET", `/api/files/${file.id}/versions`)).expect(200, 404);
    const former = listed.status === 200 ? listed.records("data.versions").at(-1) : undefined;
    if (former === undefined) return;
    ledger.intendedDuplicates.add(textOf(former, "checksum"));
    const path = `/api/files/${file.id}/versions/${String(former["version"])}/restore`;
    (await this.call("POST", path)).expect(200, 404);
  }

  private async anyExistingFolder(): Promise<string | undefined> {
    const response = (await this.call("GET", "/api/files?recursive=true&type=folder&limit=100")).expect(200);
    const folder = this.options.random.pick(response.records("data.files"));
    return folder === undefined ? undefined : textOf(folder, "id");
  }

  private anyFolder(): string {
    return this.options.random.choose("/", "/Camera", "/Albums", "/Albums/Summer", "/Shared", "/Web/Deep/Down");
  }

  /** Sends content. Without a response, it need not exist in the end. */
  private async abandonIfUnanswered(checksum: string, request: () => Promise<ApiResponse>): Promise<ApiResponse> {
    try {
      return await request();
    } catch (error) {
      if (error instanceof LineDown) this.options.ledger.abandoned(checksum, "the browser got no response");
      throw error;
    }
  }
}
