/** The answer shapes of the API (api.md, Response envelope). */

/** `{success: true, data, message?}` */
export function ok<T extends object>(data: T, message?: string): { success: true; data: T; message?: string } {
  return message === undefined ? { success: true, data } : { success: true, message, data };
}

/** Where a page stands in its list (api.md, Pagination object). */
export interface Pagination {
  readonly page: number;
  readonly limit: number;
  readonly total: number;
  readonly totalPages: number;
  readonly hasNext: boolean;
  readonly hasPrev: boolean;
}

/** The pagination object of page `page` (from 1) of a list of `total`. */
export function paginate(page: number, limit: number, total: number): Pagination {
  const totalPages = Math.ceil(total / limit);
  return { page, limit, total, totalPages, hasNext: page < totalPages, hasPrev: page > 1 };
}
