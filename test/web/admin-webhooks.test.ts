// Administration of webhooks: create, test, list deliveries, renew the secret, delete.
import { afterAll, expect, test } from "bun:test";
import { describeWeb } from "./support/browser.ts";
import { closeByKey } from "./support/focus.ts";

const target = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: ({ url }) => new Response(null, { status: new URL(url).pathname === "/broken" ? 500 : 204 }),
});
afterAll(() => target.stop(true));

describeWeb(
  "webhooks",
  (web) => {
    test("are created, tested, monitored, changed and deleted", async () => {
      const admin = await web.server().addUser(["--admin"]);
      const page = await web.open({ as: admin, path: "/admin/webhooks" });
      await page.getByText("No webhooks yet").waitFor();
      await page.getByRole("button", { name: "Create webhook" }).click();
      const dialog = page.getByRole("dialog", { name: "Create webhook" });
      await dialog.getByLabel("URL").fill(`http://127.0.0.1:${target.port}/fine`);
      await dialog.getByRole("checkbox", { name: "share.created" }).check();
      await web.lookAt(page, "admin-new-webhook");
      await dialog.getByRole("button", { name: "Create webhook" }).click();
      const secret = page.getByRole("dialog", { name: "Save the signing secret" });
      const first = await secret.getByLabel("Signing secret").inputValue();
      expect(first).toStartWith("whsec_");
      await secret.getByRole("button", { name: "Done" }).click();
      await page.getByText("Active", { exact: true }).waitFor();
      await web.lookAt(page, "admin-webhooks");

      await page.getByRole("button", { name: "Send test" }).click();
      await page.getByText("Test delivered.").waitFor();
      const choose = async (action: string) => {
        await page.getByRole("button", { name: /^Actions for/ }).click();
        await page.getByRole("menuitem", { name: action, exact: true }).click();
      };
      await choose("Deliveries");
      const deliveries = page.getByRole("dialog", { name: "Deliveries" });
      await deliveries
        .getByRole("row", { name: /webhook\.test/ })
        .getByText("Delivered")
        .waitFor();
      await web.lookAt(page, "admin-deliveries");
      await closeByKey(page, deliveries);

      await choose("Edit");
      const edit = page.getByRole("dialog", { name: "Edit webhook" });
      await edit.getByLabel("URL").fill(`http://127.0.0.1:${target.port}/broken`);
      await edit.getByRole("button", { name: "Save" }).click();
      await edit.waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Send test" }).click();
      await page.getByText(/^Test failed/).waitFor();

      await choose("Create new secret");
      await page.getByRole("alertdialog").getByRole("button", { name: "Create new secret" }).click();
      expect(await secret.getByLabel("Signing secret").inputValue()).not.toBe(first);
      await secret.getByRole("button", { name: "Done" }).click();
      await secret.waitFor({ state: "detached" });
      await choose("Pause");
      await page.getByText("Paused", { exact: true }).waitFor();
      await choose("Delete");
      await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
      await page.getByText("No webhooks yet").waitFor();
    });
  },
  { env: { LARDER_OUTBOUND_ALLOW: "127.0.0.0/8" } },
);
