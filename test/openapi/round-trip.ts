// A client whose types are generated from the OpenAPI document: signs up, stores a file, finds it, reads it, deletes
// it. Compiling it checks the document's requests; running it checks the document's responses.
import createClient from "openapi-fetch";
import type { paths } from "./generated/larder.ts";

const api = createClient<paths>({ baseUrl: process.argv[2] ?? "" });
const content = "written by a generated client";

/** The data of a response. @throws Error with the response's error if there is none */
function dataOf<T>(what: string, response: { data?: T; error?: unknown }): T {
  if (response.data === undefined) throw new Error(`${what}: ${JSON.stringify(response.error)}`);
  return response.data;
}

const email = `generated-${crypto.randomUUID()}@example.org`;
const signedIn = dataOf(
  "sign-up",
  await api.POST("/api/auth/signup", { body: { email, password: "a long password", name: "Ada" } }),
);
const headers = { Authorization: `Bearer ${signedIn.token}` };

const uploaded = dataOf(
  "upload",
  await api.POST("/api/files/upload", {
    headers,
    body: { file: content, folder: "/notes" },
    bodySerializer: ({ folder }) => {
      const form = new FormData();
      form.set("folder", folder ?? "/");
      form.set("file", new Blob([content], { type: "text/plain" }), "note.txt");
      return form;
    },
  }),
).data;

const listing = dataOf("list", await api.GET("/api/files", { headers, params: { query: { folder: "/notes" } } })).data;
const names: string[] = listing.files.map((file) => file.name);
if (names.join() !== "note.txt") throw new Error(`the listing has ${names.join()}`);

const params = { path: { id: uploaded.id } };
const download = await api.GET("/api/files/{id}/download", { headers, params, parseAs: "text" });
if (dataOf("download", download) !== content) throw new Error("the content differs");

const renamed = dataOf("rename", await api.PUT("/api/files/{id}", { headers, params, body: { name: "n.txt" } })).data;
if (renamed.name !== "n.txt") throw new Error(`the file is called ${renamed.name}`);

dataOf("delete", await api.DELETE("/api/files/{id}", { headers, params }));
const gone = await api.GET("/api/files/{id}", { headers, params });
const reason: string | undefined = gone.error?.error.details.reason;
if (gone.response.status !== 404 || reason !== "not_found") throw new Error(`after deletion, the reason is ${reason}`);
console.log("round trip done");
