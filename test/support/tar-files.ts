// Makes TAR files as Google Takeout does: ustar, with pax fields for long names.

const BLOCK = 512;

/** A TAR file with these files. */
export function makeTar(files: readonly { readonly path: string; readonly content: string | Buffer }[]): Buffer {
  const parts: Buffer[] = [];
  for (const { path, content } of files) {
    const bytes = Buffer.from(content);
    if (Buffer.byteLength(path) > 100) parts.push(...entry("pax", paxRecord("path", path), "x"));
    parts.push(...entry(Buffer.from(path).subarray(0, 100).toString("latin1"), bytes, "0"));
  }
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

function entry(name: string, content: Buffer, type: string): Buffer[] {
  const header = Buffer.alloc(BLOCK);
  header.write(name, 0, 100, "latin1");
  header.write("0000644\0", 100);
  header.write("0000000\0", 108);
  header.write("0000000\0", 116);
  header.write(`${content.length.toString(8).padStart(11, "0")}\0`, 124);
  header.write("14000000000\0", 136);
  header.write("        ", 148);
  header.write(type, 156);
  header.write("ustar\u000000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return [header, content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)];
}

function paxRecord(key: string, value: string): Buffer {
  const rest = ` ${key}=${value}\n`;
  let length = Buffer.byteLength(rest);
  while (length !== Buffer.byteLength(rest) + String(length).length)
    length = Buffer.byteLength(rest) + String(length).length;
  return Buffer.from(`${length}${rest}`);
}
