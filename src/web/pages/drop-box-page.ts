/** The page of a drop box: a form for one file. A script adds many files, folders and resumable uploads. */
import { html, htmlMessage } from "./html.ts";
import { renderExpiry, renderFramed, renderPicture, type Sharer, type SharePageFrame } from "./share-page.ts";
import { dropBoxTexts } from "./share-text.ts";

/** Data for the form of a drop box. */
interface DropBoxModel {
  /**
   * The heading; undefined for a neutral one. The title of the page is always neutral, because chat programs show it
   * where the link is sent.
   */
  readonly title: string | undefined;
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
  const { language } = frame;
  const text = dropBoxTexts(language);
  const { received, problem, maxFileSizeBytes, lock } = model;
  const max = maxFileSizeBytes !== null && html` data-max-bytes="${maxFileSizeBytes}"`;
  const grant = lock !== undefined && html` data-unlock-url="${lock.unlockUrl}" data-grant="${lock.grant}"`;
  const { sharer } = model;
  const recipient = sharer && html`${renderPicture(sharer)}<bdi>${sharer.name}</bdi>`;
  const uploaded = received && { name: html`<strong dir="auto">${received.name}</strong>`, size: received.sizeBytes };
  return renderFramed(
    frame,
    text.title,
    html`<div class="card">
<h1><bdi>${model.title ?? text.title}</bdi></h1>
<p>${recipient === undefined ? text.leadWithoutName : htmlMessage(text.lead, { recipient })}</p>
${uploaded !== undefined && html`<div class="received" role="status"><p>${htmlMessage(text.uploaded, uploaded)}</p><p class="quiet"><code>${received?.checksum}</code></p></div>`}
${problem !== undefined && html`<p class="notice" role="alert">${problem}</p>`}
<form method="post" action="${model.uploadUrl}" enctype="multipart/form-data" data-drop-box="${model.resumableUrl}"${max}${grant}>
<div class="field">
<label for="sender">${text.sender}</label>
<input type="text" id="sender" name="sender" maxlength="100" autocomplete="name" aria-describedby="sender-hint">
<p class="hint" id="sender-hint">${text.senderHint}</p>
</div>
<div class="field" data-plain>
<label for="file">${received === undefined ? text.file : text.anotherFile}</label>
<input type="file" id="file" name="file" required aria-describedby="file-hint">
<p class="hint" id="file-hint">${maxFileSizeBytes === null ? text.fileHint : text.fileHintWithLimit({ limit: maxFileSizeBytes })}</p>
</div>
<button class="button" type="submit" data-plain>${text.upload}</button>
</form>
${model.expiresAtMs !== null && html`<ul class="facts below">${renderExpiry(language, model.expiresAtMs)}</ul>`}
</div>`,
  );
}
