import { expect, test } from "bun:test";
import { EditProcess } from "../../../../src/features/media/editing/edit-process.ts";

test("one account can't take all turns", async () => {
  const editing = new EditProcess({
    command: ["echo", "done"],
    nativeDir: "",
    libvips: undefined,
    memoryLimitBytes: Number.MAX_SAFE_INTEGER,
  });
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const request = { path: "", mediaType: "image/png", edit: { rotate: 90 } } as const;
  const edit = (accountId: number) => editing.edit(accountId, request, () => opened);
  const begun = [edit(1), edit(1), edit(1), edit(1)];
  expect(edit(1)).rejects.toMatchObject({ reason: "overloaded" });
  begun.push(edit(2));
  open();
  await Promise.all(begun);
  await edit(1);
});
