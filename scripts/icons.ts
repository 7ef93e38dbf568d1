// Draws the icons of the installed app: bun scripts/icons.ts
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import sharp from "sharp";

const FOLDER = resolve(import.meta.dir, "../src/client/icons");
const JAR = "M8 3h8v3H8zM8 6c0 1.5-2 2-2 4.5V18a2 2 0 0 0 2 2h8a2 2 0 0 0 2-2v-7.5c0-2.5-2-3-2-4.5M6 12.5h12M3 22.5h18";

/** @param share of the square that the jar takes: masks cut a fifth off each side */
function drawing(share: number, radius: number): string {
  const scale = (512 * share) / 24;
  const start = (512 - 24 * scale) / 2;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="512" height="512">
<rect width="512" height="512" rx="${radius}" fill="#1d5f4a"/>
<g transform="translate(${start} ${start}) scale(${scale})" fill="none" stroke="#fff" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round"><path d="${JAR}"/></g></svg>`;
}

const ICONS = [
  { name: "icon-192", size: 192, share: 0.66, radius: 96 },
  { name: "icon-512", size: 512, share: 0.66, radius: 96 },
  { name: "icon-maskable-192", size: 192, share: 0.5, radius: 0 },
  { name: "icon-maskable-512", size: 512, share: 0.5, radius: 0 },
  { name: "apple-touch-icon", size: 180, share: 0.6, radius: 0 },
];

mkdirSync(FOLDER, { recursive: true });
for (const { name, size, share, radius } of ICONS) {
  const drawn = sharp(Buffer.from(drawing(share, radius)), { density: 144 }).resize(size, size);
  await drawn.png({ palette: true, colours: 32, compressionLevel: 9 }).toFile(join(FOLDER, `${name}.png`));
}
