// Creates file systems for tests of full disks, read-only disks and power cuts, which need real ones.
import { copyFile, mkdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { eventually } from "./expect.ts";
import { temporaryDirectory } from "./server.ts";

/** Runs a system command. Returns its exit code and its output. */
export async function run(words: string[]): Promise<{ code: number; output: string }> {
  try {
    const child = Bun.spawn(words, { stdout: "pipe", stderr: "pipe" });
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { code: await child.exited, output: out + err };
  } catch (error) {
    return { code: 127, output: String(error) };
  }
}

/** A mounted file system. */
export interface Mounted {
  /** Where it is mounted. */
  path: string;
  /** The image file of a loop mount; empty for others. */
  image: string;
  /** Unmounts it and removes its temporary files. No process may still use it. */
  unmount: () => Promise<void>;
}

/** Why this machine cannot mount; undefined if it can. Determined once by trying. */
export const mountingFails: string | undefined = await whyMountingFails();

/** Creates an ext4 file system in a sparse file of this folder, for {@link mountExt4}. @returns the file's path */
export async function makeExt4Image(sizeMiB: number, folder: string): Promise<string> {
  const file = join(folder, "disk.img");
  await writeFile(file, "");
  await truncate(file, sizeMiB * 1024 * 1024);
  await must(["mkfs.ext4", "-q", "-F", "-m", "0", file]);
  return file;
}

/**
 * Mounts an ext4 file system from an image file.
 *
 * @param image an existing image; it stays after unmounting. Default: a new one
 * @param at where to mount it; the path is created, and the caller removes it. Default: a temporary directory
 */
export async function mountExt4(sizeMiB: number, image?: string, at?: string): Promise<Mounted> {
  const folder = await temporaryDirectory();
  const file = image ?? (await makeExt4Image(sizeMiB, folder));
  // A fault makes it read-only, as most machines configure their root file system.
  return mount(folder, file, ["-o", "loop,errors=remount-ro", file], at);
}

/**
 * Makes a mounted ext4 read-only at once, even if files are open for writing, as the kernel does after a disk fault.
 */
export async function makeReadOnly({ path }: Mounted): Promise<void> {
  const mounts = await readFile("/proc/mounts", "utf8");
  const device =
    mounts
      .split("\n")
      .find((line) => line.split(" ")[1] === path)
      ?.split(" ")[0] ?? "";
  await writeFile(`/sys/fs/ext4/${basename(device)}/trigger_fs_error`, "1");
}

/**
 * Copies the image of a mounted file system as it is at one moment. The kernel may write during the copy, which then
 * mixes two states as no power cut does. Such a copy is repeated.
 */
export async function copyConsistently(image: string, copy: string): Promise<void> {
  await eventually("a copy during which nothing is written to the image", async () => {
    await copyFile(image, copy);
    return (await run(["cmp", image, copy])).code === 0;
  });
}

/** Checks an unmounted ext4 and repairs what can be repaired automatically, as a machine does before mounting. */
export async function repairExt4(image: string): Promise<void> {
  const { code, output } = await run(["e2fsck", "-p", "-f", image]);
  // 1: errors were repaired.
  if (code > 1) throw new Error(`e2fsck ${image}: ${output}`);
}

/**
 * Mounts a tmpfs of a limited size.
 *
 * @param at where to mount it; the path is created, and the caller removes it. Default: a temporary directory
 */
export async function mountTmpfs(sizeMiB: number, at?: string): Promise<Mounted> {
  return mount(await temporaryDirectory(), "", ["-t", "tmpfs", "-o", `size=${sizeMiB}m`, "tmpfs"], at);
}

async function mount(folder: string, image: string, words: string[], at?: string): Promise<Mounted> {
  const path = at ?? join(folder, "mounted");
  await mkdir(path, { recursive: true });
  await must(["mount", ...words, path]);
  return {
    path,
    image,
    unmount: async () => {
      // Another process may have it open for a moment, as udev does with a new device.
      await eventually(`${path} is unmounted`, async () => (await run(["umount", path])).code === 0);
      await rm(folder, { recursive: true });
    },
  };
}

async function must(words: string[]): Promise<void> {
  const { code, output } = await run(words);
  if (code !== 0) throw new Error(`${words.join(" ")}: ${output}`);
}

async function whyMountingFails(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "only root may mount";
  try {
    const probe = await mountExt4(4);
    await probe.unmount();
    return undefined;
  } catch (error) {
    return String(error);
  }
}
