import { expect, test } from "bun:test";
import { oneLine, pageOf, renderMail, safeName } from "../../../../src/features/accounts/mail/render-mail.ts";
import { inviteMail, resetMail } from "../../../../src/features/accounts/mail/mail-templates.ts";

test("a mail has the same content as text and as HTML", () => {
  const mailMessage = renderMail("en", {
    subject: "Hello",
    paragraphs: ["First & foremost.", "Then <b>more</b>."],
    link: { label: "Open", url: 'https://larder.test/?a=1&b="2"' },
  });
  expect(mailMessage.text).toStartWith(
    'First & foremost.\n\nhttps://larder.test/?a=1&b="2"\n\nThen <b>more</b>.\n\n-- \n',
  );
  expect(mailMessage.html).toContain("Then &#60;b&#62;more&#60;/b&#62;.");
  expect(mailMessage.html).toContain('<a href="https://larder.test/?a=1&#38;b=&#34;2&#34;">Open</a>');
});

test.each([
  ["a\r\nBcc: b@c.test", "a Bcc: b@c.test"],
  ["a\u2028b\u0000c\u001b[1m", "a b c [1m"],
  ["ab\u202egpj.exe", "ab gpj.exe"],
  ["  a   b  ", "a b"],
])("%j becomes one line", (text, line) => {
  expect(oneLine(text)).toBe(line);
});

test.each([
  ["Ada", "Ada"],
  ["https://evil.example/now", "https evil․example/now"],
  ["www.evil.example", "www․evil․example"],
  ["Dr. Ada E. Example", "Dr. Ada E. Example"],
])("the name %j can't be clicked on", (name, safe) => {
  expect(safeName(name)).toBe(safe);
});

test("a long name is cut between graphemes", () => {
  const name = "👩‍🚀".repeat(100);
  expect([...safeName(name)].length).toBe(60);
  expect(safeName(name).isWellFormed()).toBe(true);
});

test("plain text becomes paragraphs", () => {
  expect(pageOf("one\ntwo\n\n<three>")).toContain("<p>one<br>two</p><p>&#60;three&#62;</p>");
});

test("invitations and reset mails contain their link", () => {
  expect(resetMail("en", "https://larder.test/r", 30 * 60_000).text).toContain("expires in 30 minutes");
  const invite = inviteMail("en", { link: "https://larder.test/i", from: "Ada", expiresAtMs: Date.UTC(2026, 0, 2) });
  expect(invite.text).toStartWith("“Ada” invited you to store files on this Larder server.");
  expect(invite.text).toContain("Jan 2, 2026, 12:00 AM UTC");
});
