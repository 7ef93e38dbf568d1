// A sample family library: photos with capture dates, letters, a plan, a sound, shares and versions. Everything is
// generated here, so that screenshots contain no real files and look the same each time.
import sharp from "sharp";
import type { Account, Client } from "./client.ts";
import { type SeededRandom, seededRandom } from "./random.ts";
import { shareWith } from "./account-shares.ts";

/** What the library contains. */
export interface SampleOptions {
  /** Number of photos, spread over the two years before 2026. */
  readonly photos?: number;
  /** An account that shares a folder with the library's owner. */
  readonly friend?: Account;
}

const GPS_LOCATIONS = [
  { name: "Lisbon", latitude: "38/1 43/1 0/1", longitude: "9/1 8/1 0/1", reference: "W" },
  { name: "Harz", latitude: "51/1 48/1 0/1", longitude: "10/1 37/1 0/1", reference: "E" },
  { name: "Sylt", latitude: "54/1 54/1 0/1", longitude: "8/1 20/1 0/1", reference: "E" },
] as const;

/** Draws a landscape with sky, sun and hills. The same seed draws the same picture. */
export async function landscape(seed: number, width = 1200, height = 800): Promise<Buffer> {
  const random = seededRandom(seed);
  const ground = 90 + random.below(140);
  const [zenith, horizon] = random.pick([
    ["hsl(210 65% 62%)", "hsl(200 70% 88%)"],
    ["hsl(225 45% 55%)", "hsl(20 80% 82%)"],
    ["hsl(250 35% 45%)", "hsl(30 90% 75%)"],
    ["hsl(200 20% 70%)", "hsl(200 20% 92%)"],
  ] as const);
  const hills = [0, 1, 2, 3].map((row) => {
    const base = 380 + row * 110;
    const points = Array.from({ length: 7 }, (_, at) => `${at * 200},${base - random.below(130)}`);
    return `<path d="M0,800 L${points.join(" L")} L1200,800 Z" fill="hsl(${ground + 12 * row} ${22 + row * 5}% ${62 - row * 13}%)"/>`;
  });
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 1200 800" preserveAspectRatio="xMidYMid slice">
<defs><linearGradient id="sky" x2="0" y2="1"><stop stop-color="${zenith}"/><stop offset="1" stop-color="${horizon}"/></linearGradient></defs>
<rect width="1200" height="800" fill="url(#sky)"/>
<circle cx="${200 + random.below(800)}" cy="${120 + random.below(200)}" r="${40 + random.below(40)}" fill="#fff6d8" opacity="0.9"/>
${hills.join("")}</svg>`;
  return sharp(Buffer.from(drawing)).png().toBuffer();
}

/** A landscape as a JPEG with EXIF for the time and location of its capture. */
export async function photo(seed: number, takenAt: Date): Promise<Uint8Array> {
  const isUpright = seed % 4 === 3;
  const location = GPS_LOCATIONS[seed % GPS_LOCATIONS.length] ?? GPS_LOCATIONS[0];
  const moment = takenAt.toISOString().slice(0, 19).replaceAll("-", ":").replace("T", " ");
  const picture = sharp(await landscape(seed, isUpright ? 800 : 1200, isUpright ? 1200 : 800)).withExif({
    IFD0: { Make: "Larder", Model: "Sample 1" },
    IFD2: { DateTimeOriginal: moment, OffsetTimeOriginal: "+02:00", FNumber: "28/10", ExposureTime: "1/250" },
    IFD3: {
      GPSLatitudeRef: "N",
      GPSLatitude: location.latitude,
      GPSLongitudeRef: location.reference,
      GPSLongitude: location.longitude,
    },
  });
  return new Uint8Array(await picture.jpeg({ quality: 70 }).toBuffer());
}

/** One second of a falling tone: RIFF WAVE, one channel. */
export function tone(): Uint8Array {
  const rate = 8000;
  const bytes = Buffer.alloc(44 + rate);
  bytes.write("RIFF", 0, "latin1");
  bytes.writeUInt32LE(36 + rate, 4);
  bytes.write("WAVEfmt ", 8, "latin1");
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(rate, 24);
  bytes.writeUInt32LE(rate, 28);
  bytes.writeUInt16LE(1, 32);
  bytes.writeUInt16LE(8, 34);
  bytes.write("data", 36, "latin1");
  bytes.writeUInt32LE(rate, 40);
  for (let at = 0; at < rate; at++) bytes[44 + at] = 128 + Math.round(60 * Math.sin((at * (500 - at / 40)) / 1300));
  return new Uint8Array(bytes);
}

/** A PDF with one page for each text, in Helvetica (ISO 32000-1 §7.5). */
export function pdf(pages: readonly string[]): Uint8Array {
  const kids = pages.map((_, at) => `${4 + at * 2} 0 R`).join(" ");
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ];
  for (const [at, words] of pages.entries()) {
    const stream = `BT /F1 24 Tf 72 720 Td (${words.replaceAll(/[()\\]/g, "\\$&")}) Tj ET`;
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${5 + at * 2} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
      `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    );
  }
  let text = "%PDF-1.4\n";
  const offsets = objects.map((object, at) => {
    const offset = text.length;
    text += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
  return new TextEncoder().encode(text);
}

const TEXTS: readonly (readonly [folder: string, name: string, content: string])[] = [
  [
    "/Recipes",
    "Plum cake.md",
    "# Plum cake\n\n*For one tray.*\n\n- 500 g flour\n- 80 g sugar\n- 1.5 kg plums\n- 42 g fresh yeast\n\n1. Let the dough rise for **an hour**.\n2. Stone the plums.\n3. Bake at 180 °C for 35 minutes.\n\n> Best with cream, and on the same day.\n",
  ],
  ["/Recipes", "Bread.md", "# Bread\n\nFlour, water, salt, and *a night* in the cold.\n"],
  ["/House", "Shopping list.txt", "Milk\nBread\nLight bulbs E27\nCinnamon\n"],
  ["/House", "Meters.csv", "day,water,electricity\n2025-11-01,412.3,8120\n2025-12-01,418.9,8398\n"],
  [
    "/House",
    "watering.py",
    'import time\n\n\ndef water(seconds: int) -> None:\n    """Opens the valve for some seconds."""\n    print(f"watering for {seconds} s")\n    time.sleep(seconds)\n\n\nif __name__ == "__main__":\n    water(30)\n',
  ],
];

async function storeTexts(client: Client): Promise<void> {
  for (const [folder, name, content] of TEXTS) await client.stored(content, { name, fields: { folder } });
  // Written three times, so that the file has two earlier versions.
  const mailMessage = await client.storedId("Dear Ana,", {
    name: "Letter to Ana.txt",
    fields: { folder: "/House" },
  });
  await client.putContent(mailMessage, "Dear Ana,\n\nwe are coming on Saturday.");
  await client.putContent(mailMessage, "Dear Ana,\n\nwe are coming on Saturday, with cake.\n\nBen");
  const plan = pdf(["Garden plan, page 1", "Beds and paths", "What to sow when"]);
  await client.stored(plan, { name: "Garden plan.pdf", type: "application/pdf", fields: { folder: "/House" } });
  await client.stored(tone(), { name: "Doorbell.wav", type: "audio/wav", fields: { folder: "/House" } });
}

async function storePhotos(client: Client, count: number, random: SeededRandom): Promise<string[]> {
  const ids: string[] = [];
  let takenAtMs = Date.UTC(2025, 11, 27, 14);
  for (let number = 0; number < count; number++) {
    // Six photos on one day, then 20 days without any.
    takenAtMs -= (number % 6 === 5 ? 20 * 24 * 3600 : 900 + random.below(3600)) * 1000;
    const takenAt = new Date(takenAtMs);
    const content = await photo(number, takenAt);
    const name = `IMG_${String(4800 - number)}.jpg`;
    ids.push(await client.storedId(content, { name, fields: { folder: `/Photos/${takenAt.getUTCFullYear()}` } }));
  }
  return ids;
}

/** Fills an account with the library. Uses only the API of the server. */
export async function seedSampleLibrary(account: Account, options: SampleOptions = {}): Promise<void> {
  const { client } = account;
  await storeTexts(client);
  const photos = await storePhotos(client, options.photos ?? 24, seededRandom(7));
  await client.post("/api/files/tags", { fileIds: photos.slice(0, 4), add: ["holiday"] });
  await client.post("/api/files/tags", { fileIds: photos.slice(2, 6), add: ["print"] });
  const old = await client.storedId("old", { name: "Old notes.txt", fields: { folder: "/House" } });
  await client.delete(`/api/files/${old}`);
  const [first = ""] = photos;
  await client.post(`/api/files/${first}/shares`, { label: "For grandma" });
  const box = await client.folderId("Summer party");
  await client.post(`/api/files/folders/${box}/shares`, { permissions: "upload", label: "Your pictures, please" });
  if (options.friend === undefined) return;
  const cellar = await options.friend.client.folderId("Cellar");
  await options.friend.client.stored("12 bottles", { name: "Stock.txt", fields: { folder: "/Cellar" } });
  await shareWith(options.friend.client, cellar, account, { permissions: "read" });
}
