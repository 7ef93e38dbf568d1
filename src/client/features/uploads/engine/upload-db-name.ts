/** The name of the database of saved uploads. */
export const UPLOAD_DATABASE = "larder-uploads";

/** Stored when the database is created, which the other tabs notice. */
export const UPLOADS_STORED = "uploads";

/** Whether this browser may have saved uploads. Loads nothing and creates no database. */
export async function mayHaveSavedUploads(): Promise<boolean> {
  // Older versions of Firefox don't list databases.
  if (typeof indexedDB.databases !== "function") return true;
  try {
    return (await indexedDB.databases()).some(({ name }) => name === UPLOAD_DATABASE);
  } catch {
    return false; // Private windows have no databases.
  }
}
