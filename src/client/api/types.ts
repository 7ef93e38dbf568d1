/** Records of the API as the pages call them; `generated.ts` has their fields, from the document of `/docs`. */
import type { ResponseData, Schemas } from "./generated.ts";

/** The roles of accounts. */
export type Role = Schemas["Account"]["role"];
/** The signed-in user. */
export type User = ResponseData["GET /api/users/profile"];
/** The session of GET /api/auth/session. */
export type Session = Schemas["SessionSummary"];
/** The position of a page in its list. */
export type Pagination = Schemas["Pagination"];
/** A file in a listing. `contentAvailable` and `isDeleted` are set only in listings of a past moment. */
export type FileRecord = Schemas["FileItem"];
/** A folder in a listing. */
export type FolderRecord = Schemas["FolderItem"];
/** An item of a listing; `type` says which of both it is. */
export type Entry = FileRecord | FolderRecord;
/** GET /api/files */
export type Listing = ResponseData["GET /api/files"];
/** An item of the trash. */
export type TrashedEntry = ResponseData["GET /api/files/trash"]["files"][number];
/** An item that a bulk request could not process. */
export type FailedItem = ResponseData["POST /api/files/move"]["failed"][number];
/** A share as its owner sees it. */
export type ShareRecord = Schemas["Share"];
/** GET /api/users/usage */
export type Usage = Schemas["Usage"];
