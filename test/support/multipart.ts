// Writes multipart/form-data by hand, so that tests control the order, the headers and the mistakes.

/** One part: its header lines and its content. */
export interface Part {
  headers: string[];
  content: string | Uint8Array;
}

/** A form field. */
export function field(name: string, value: string): Part {
  return { headers: [`Content-Disposition: form-data; name="${name}"`], content: value };
}

/** A file field. The name is sent as UTF-8, exactly as given. */
export function file(name: string, content: string | Uint8Array, type?: string, fieldName = "file"): Part {
  const headers = [`Content-Disposition: form-data; name="${fieldName}"; filename="${name}"`];
  if (type !== undefined) headers.push(`Content-Type: ${type}`);
  return { headers, content };
}

/** The boundary of all forms from this module. */
export const boundary = "----larder-test-boundary-7f3a";

/** The Content-Type of a form from this module. */
export const formType = `multipart/form-data; boundary=${boundary}`;

/** The bytes of a complete form. */
export function form(parts: Part[]): Uint8Array<ArrayBuffer> {
  const buffers: Buffer[] = [];
  for (const part of parts) {
    buffers.push(Buffer.from(`--${boundary}\r\n${part.headers.join("\r\n")}\r\n\r\n`, "utf8"));
    buffers.push(Buffer.from(part.content), Buffer.from("\r\n"));
  }
  buffers.push(Buffer.from(`--${boundary}--\r\n`));
  return new Uint8Array(Buffer.concat(buffers));
}
