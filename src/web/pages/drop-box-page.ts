/** The page of a drop box: a form for one file. A script adds many files, folders and resumable uploads. */
import { html } from "./html.ts";
import {
  formatSize,
  renderExpiry,
  renderFramed,
  renderPicture,
  type Sharer,
  type SharePageFrame,
} from "./share-page.ts";

/** The title of every drop box, and the heading of one without a label. */
export const UPLOAD_FILES = "Upload files";

/** Data for the form of a drop box. */
interface DropBoxModel {
  /** The heading. The title of the page is neutral, because chat programs show it where the link is sent. */
  readonly title: string;
  /** The person who receives the files; undefined if they hide it. */
  readonly sharer: Sharer | undefined;
  readonly uploadUrl: string;
  /** Where scripts send resumable uploads (tus 1.0). */
  readonly resumableUrl: string;
  /** Where scripts request a new grant, and this visitor's grant; undefined without a password. */
  readonly lock: { readonly unlockUrl: string; readonly grant: string } | undefined;
  readonly maxFileSizeBytes: number | null;
  readonly expiresAtMs: number | null;
  /** The file that was uploaded last. */
  readonly received?: { readonly name: string; readonly sizeBytes: number; readonly checksum: string } | undefined;
  readonly problem?: string | undefined;
}

/** Renders the form: one file at a time, sent by POST as multipart/form-data. */
export function renderDropBoxPage(frame: SharePageFrame, model: DropBoxModel): string {
  const { received, problem, maxFileSizeBytes, lock } = model;
  const max = maxFileSizeBytes !== null && html` data-max-bytes="${maxFileSizeBytes}"`;
  const grant = lock !== undefined && html` data-unlock-url="${lock.unlockUrl}" data-grant="${lock.grant}"`;
  const recipient =
    model.sharer === undefined
      ? "the person who sent you this link"
      : html`${renderPicture(model.sharer)}<bdi>${model.sharer.name}</bdi>`;
  return renderFramed(
    frame,
    UPLOAD_FILES,
    html`<div class="card">
<h1 dir="auto">${model.title}</h1>
<p>Files that you upload here go to ${recipient}. You can't see files that others uploaded, and they can't see yours.</p>
${received !== undefined && html`<div class="received" role="status"><p><strong dir="auto">${received.name}</strong> was uploaded (${formatSize(received.sizeBytes)}).</p><p class="quiet"><code>${received.checksum}</code></p></div>`}
${problem !== undefined && html`<p class="notice" role="alert">${problem}</p>`}
<form method="post" action="${model.uploadUrl}" enctype="multipart/form-data" data-drop-box="${model.resumableUrl}"${max}${grant}>
<div class="field">
<label for="sender">Your name</label>
<input type="text" id="sender" name="sender" maxlength="100" autocomplete="name" aria-describedby="sender-hint">
<p class="hint" id="sender-hint">Optional. Saved with the file.</p>
</div>
<div class="field" data-plain>
<label for="file">${received === undefined ? "File" : "Another file"}</label>
<input type="file" id="file" name="file" required aria-describedby="file-hint">
<p class="hint" id="file-hint">One file at a time${maxFileSizeBytes !== null && html`, up to ${formatSize(maxFileSizeBytes)}`}. Keep this page open until the upload is complete.</p>
</div>
<button class="button" type="submit" data-plain>Upload</button>
</form>
${model.expiresAtMs !== null && html`<ul class="facts below">${renderExpiry(model.expiresAtMs)}</ul>`}
</div>`,
  );
}
