import { messageOf } from "../api/http.ts";

/** Why something failed, announced at once; nothing if there is no error. */
export function ErrorMessage({ error }: { readonly error: unknown }) {
  if (error === null) return null;
  return (
    <p role="alert" className="mb-3 text-sm text-danger">
      {messageOf(error)}
    </p>
  );
}
