// The frame around all pages: navigation, search, account, help, themes, languages, and missing pages.
import { expect, test } from "bun:test";
import { expectFocus } from "./files-helpers.ts";
import { describeWeb } from "./support/browser.ts";
import { closeByKey, closeMenu, untilKeysWork, untilMenuFocused } from "./support/focus.ts";
import { message, undo } from "./support/undo.ts";

describeWeb("the frame of the pages", (web) => {
  test("leads everywhere, by mouse and by keyboard", async () => {
    const page = await web.open({ as: await web.account("Ada Lovelace") });
    const navigation = page.getByRole("navigation", { name: "Main" });
    for (const [link, heading] of [
      ["Shared by me", "Shared by me"],
      ["Trash", "Trash"],
      ["History", "History"],
    ] as const) {
      await navigation.getByRole("link", { name: link, exact: true }).press("Enter");
      await page.getByRole("heading", { level: 1, name: heading }).waitFor();
      await page.waitForFunction(() => document.activeElement?.tagName === "H1");
      expect(await page.title()).toContain(heading);
      expect(await navigation.getByRole("link", { name: link, exact: true }).getAttribute("aria-current")).toBe("page");
    }
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Trash" }).waitFor();
    expect(await navigation.getByRole("link", { name: "Administration" }).count()).toBe(0);
    await web.lookAt(page, "frame");
  });

  test("has its navigation in a drawer and a bar on phones", async () => {
    const page = await web.open({ as: await web.account(), size: "phone" });
    await page.getByRole("button", { name: "Menu" }).click();
    const drawer = page.getByRole("dialog", { name: "Larder" });
    await drawer.getByRole("link", { name: "History" }).waitFor();
    await web.lookAt(page, "frame-drawer");
    await drawer.getByRole("link", { name: "History" }).click();
    await page.getByRole("heading", { level: 1, name: "History" }).waitFor();
    await drawer.waitFor({ state: "detached" });
    await page.getByRole("navigation", { name: "Quick navigation" }).getByRole("link", { name: "Home" }).click();
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
  });

  test("moves the round button out of the way of the entries that are scrolled to", async () => {
    const account = await web.account();
    for (let at = 10; at < 40; at += 1) await account.client.stored("x", { name: `f${at}.txt` });
    const page = await web.open({ as: account, size: "phone" });
    const button = page.locator("[data-floating-action]").getByRole("button", { name: "New" });
    await button.waitFor();
    const scroll = (top: number) =>
      page.getByRole("grid").evaluate((grid, to) => {
        for (let element: Element | null = grid; element !== null; element = element.parentElement) {
          if (element.scrollHeight > element.clientHeight + 1) return element.scrollTo({ top: to });
        }
      }, top);
    const expectHidden = (isHidden: boolean) =>
      page.waitForFunction((hidden) => {
        const action = document.querySelector<HTMLElement>("[data-floating-action]");
        return action?.inert === hidden && getComputedStyle(action).opacity === (hidden ? "0" : "1");
      }, isHidden);
    await expectHidden(false);
    await scroll(300);
    await expectHidden(true);
    // The menu of a row at the lower end can be reached.
    await web.lookAt(page, "frame-scrolled");
    await scroll(200);
    await expectHidden(false);
    await scroll(100_000);
    await expectHidden(true);
    await page.getByRole("button", { name: "More actions for f39.txt" }).click();
    await closeMenu(page);
    await scroll(0);
    await expectHidden(false);
    await scroll(300);
    await expectHidden(true);
    await page.getByRole("navigation", { name: "Quick navigation" }).getByRole("link", { name: "Photos" }).click();
    await page.getByRole("heading", { level: 1, name: "Photos" }).waitFor();
    await expectHidden(false);
  });

  test("shows the whole menu of an entry in the middle of a phone", async () => {
    const account = await web.account();
    for (let at = 10; at < 20; at += 1) await account.client.stored("x", { name: `f${at}.txt` });
    const page = await web.open({ as: account, size: "phone" });
    await page.getByRole("button", { name: "More actions for f13.txt" }).click();
    await page.getByRole("menuitem", { name: "Move to trash" }).waitFor();
    const hidden = await page.getByRole("menu").evaluate((menu) => menu.scrollHeight - menu.clientHeight);
    expect(hidden).toBe(0);
  });

  test("shows messages where they cover no button of the frame", async () => {
    const account = await web.account();
    for (const name of ["a.txt", "b.txt"]) await account.client.stored(name, { name });
    const page = await web.open({ as: account, size: "phone" });
    await page.getByTitle("a.txt", { exact: true }).waitFor();
    await page.getByRole("button", { name: "More actions for a.txt" }).click();
    await page.getByRole("menuitem", { name: "Move to trash" }).click();
    await message(page, "1 item moved to trash.").waitFor();
    // When all is done the list takes the focus.
    await expectFocus(page, "b.txt");
    // It stays while it has the focus.
    await message(page, "1 item moved to trash.").getByRole("button", { name: "Undo" }).focus();
    for (const width of [390, 640, 1000, 1280]) {
      await page.setViewportSize({ width, height: 844 });
      const covered = await page.evaluate(() => {
        const boxOf = (element: Element) => element.getBoundingClientRect();
        const [toast] = [...document.querySelectorAll("section[aria-label='Notifications'] span")].map(boxOf);
        if (toast === undefined) throw new Error("there is no message");
        return [...document.querySelectorAll("header button, nav a, [data-floating-action] button")]
          .filter((element) => {
            const { left, right, top, bottom, width: size } = boxOf(element);
            const isApart = right <= toast.left || left >= toast.right || bottom <= toast.top || top >= toast.bottom;
            return size > 0 && !isApart;
          })
          .map((element) => element.textContent);
      });
      expect(covered).toEqual([]);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await web.lookAt(page, "frame-message");
    // A message that was hovered and then dismissed holds up no later one.
    await undo(page, "1 item moved to trash.");
    await page.mouse.move(5, 5);
    await page.getByText("1 item restored.").waitFor();
    await page.getByText("1 item restored.").waitFor({ state: "detached" });
  });

  test("lists the shortcuts on a question mark, and focuses the search on a slash", async () => {
    const page = await web.open({ as: await web.account(), path: "/trash" });
    await page.getByRole("heading", { level: 1, name: "Trash" }).waitFor();
    await untilKeysWork(page);
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await help.getByText("Search", { exact: true }).waitFor();
    await web.lookAt(page, "help");
    await closeByKey(page, help);
    await page.keyboard.press("/");
    const search = page.getByRole("combobox", { name: "Search files and folders" });
    await page.waitForFunction(() => document.activeElement?.getAttribute("type") === "search");
    await search.fill("budget");
    await search.press("Enter");
    await page.waitForURL("**/search?q=budget");
  });

  test("stores the chosen theme", async () => {
    const page = await web.open({ as: await web.account("Grace Hopper"), path: "/trash", scheme: "light" });
    await page.getByRole("button", { name: "Account: Grace Hopper" }).click();
    await untilMenuFocused(page);
    await page.getByRole("menuitem", { name: "Theme" }).press("ArrowRight");
    await web.lookAt(page, "account-menu");
    await page.getByRole("menuitemcheckbox", { name: "Dark" }).click();
    await page.waitForFunction(() => document.documentElement.dataset["theme"] === "dark");
    await page.reload();
    await page.waitForFunction(() => document.documentElement.dataset["theme"] === "dark");
  });

  test("works from right to left, with all text from the tables", async () => {
    const page = await web.open({ as: await web.account() });
    await page.evaluate(() => localStorage.setItem("larder-locale", "ar-XB"));
    await page.goto(new URL("/trash", page.url()).href);
    await page.getByRole("navigation", { name: "[Máín]" }).getByRole("link", { name: "[Sháréd wíth mé]" }).waitFor();
    expect(await page.evaluate(() => document.documentElement.dir)).toBe("rtl");
    await web.lookAt(page, "frame-rtl");
  });

  test("shows no text that was read before the language was loaded", async () => {
    const account = await web.account();
    await account.client.storedId("text", { name: "note.txt" });
    const page = await web.open({ as: account, context: { serviceWorkers: "block" } });
    await page.evaluate(() => localStorage.setItem("larder-locale", "ar-XB"));
    await page.route("**/pseudo-*.js", async (route) => {
      await page.waitForFunction(() =>
        performance.getEntriesByType("resource").some(({ name }) => name.includes("/files-page-")),
      );
      await route.continue();
    });
    await page.goto(new URL("/files", page.url()).href);
    await page.getByRole("columnheader").first().waitFor();
    const headers = await page.getByRole("columnheader").allInnerTexts();
    expect(headers.filter((header) => /[a-z]/i.test(header) && !header.includes("["))).toEqual([]);
  });

  test("stays when a page's script fails to load, and tries again", async () => {
    const page = await web.open({ as: await web.account(), path: "/trash" });
    await page.getByRole("heading", { level: 1, name: "Trash" }).waitFor();
    await page.route("**/history-page*.js", (route) => route.abort());
    web.expectProblems(page, /./);
    await page.evaluate(() => Reflect.set(window, "isSamePage", true));
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "History" }).click();
    // The server may have a new version: the page is reloaded once, and then shows the error.
    await page.getByText("Couldn't load this").waitFor();
    expect(await page.evaluate(() => Reflect.get(window, "isSamePage"))).toBeUndefined();
    await page.getByRole("navigation", { name: "Main" }).waitFor();
    await web.lookAt(page, "page-failed");
    await page.unroute("**/history-page*.js");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { level: 1, name: "History" }).waitFor();
  });

  test("shows a page for unknown addresses", async () => {
    const page = await web.open({ as: await web.account() });
    await page.getByRole("navigation", { name: "Main" }).waitFor();
    await page.evaluate(() => {
      history.pushState({}, "", "/no-such-page");
      dispatchEvent(new PopStateEvent("popstate"));
    });
    await page.getByRole("heading", { name: "Page not found" }).waitFor();
    await web.lookAt(page, "not-found");
  });
});
