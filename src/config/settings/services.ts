import { say } from "../../translations/say.ts";
import { readHost, readService } from "./addresses.ts";
import { BadValue, choice, integer, list, optionalText, readPath, text, toggle } from "../setting.ts";

/** Services of others: push services, a mail server, and an identity provider. */
export const SERVICE_SETTINGS = {
  push: {
    vapidSubject: optionalText(
      "address (mailto: or https:)",
      readSubject,
      "Contact address for browser push services. If not set, publicUrl or adminEmail is used.",
    ),
    fcm: {
      serviceAccountFile: optionalText(
        "path",
        readPath,
        "Firebase service account key (JSON), for push notifications to Android apps over FCM.",
      ),
      endpoint: text("URL", readService, "https://fcm.googleapis.com", "Address of FCM, for a relay or for tests."),
    },
    apns: {
      keyFile: optionalText("path", readPath, "Apple signing key (.p8), for push notifications to iOS apps over APNs."),
      keyId: optionalText("text", readAppleId, "ID of the Apple signing key: ten letters and digits."),
      teamId: optionalText("text", readAppleId, "ID of the Apple developer team."),
      topic: optionalText("text", readTopic, "Bundle ID of the iOS app."),
      environment: choice(["production", "sandbox"], "production", "APNs environment of the app."),
      endpoint: optionalText(
        "URL",
        readService,
        "Address of APNs, for a relay or for tests. If not set, the address of the environment is used.",
      ),
    },
  },
  mail: {
    host: optionalText("address", readHost, "SMTP server for outgoing email. If not set, no email is sent."),
    port: integer(0, 65_535, 0, "Port of the SMTP server. 0 is 587 for starttls, 465 for tls, and 25 for none."),
    secure: choice(
      ["starttls", "tls", "none"],
      "starttls",
      "Encryption of the SMTP connection. Use none only on this machine or a trusted network; it cannot be combined with mail.user.",
    ),
    user: optionalText("text", (value) => value, "User name for the SMTP server, if it requires one."),
    password: optionalText("text", (value) => value, "Password for the SMTP server.", true),
    passwordFile: optionalText("path", readPath, "File that contains the password for the SMTP server."),
    caFile: optionalText(
      "path",
      readPath,
      "CA certificate (PEM) of the SMTP server, if it is not issued by a public CA.",
    ),
    from: optionalText(
      "mailbox",
      readMailbox,
      'Sender address of all email: "larder@example.org" or "Larder <larder@example.org>".',
    ),
    verify: toggle(
      false,
      "Require new users to confirm their email address before they can share or open shares sent to it. Turning this off opens all shares that wait for a confirmation.",
    ),
  },
  oidc: {
    issuer: optionalText(
      "URL",
      readIssuer,
      "OpenID Connect provider for single sign-on: the issuer exactly as in its discovery document.",
    ),
    clientId: optionalText("text", (value) => value, "Client ID of this server at the provider."),
    clientSecret: optionalText("text", (value) => value, "Client secret of this server at the provider.", true),
    clientSecretFile: optionalText("path", readPath, "File that contains the client secret."),
    name: text("text", readLabel, "Single sign-on", "Label of the single sign-on button."),
    scopes: text("words", readScopes, "openid profile email", "Scopes requested from the provider."),
    autoCreate: toggle(
      false,
      "Create an account for every user who signs in through the provider, regardless of signup. If off, only linked accounts can sign in.",
    ),
    linkByEmail: toggle(
      false,
      "Link an existing account at the first single sign-on with the same verified email. Use this only if all email addresses on this server are known to be correct; see the security guide.",
    ),
    trustEmail: toggle(
      false,
      "Treat email addresses from the provider as verified even if the provider does not say so.",
    ),
    allowedDomains: list(
      "domains",
      readDomain,
      "Email domains allowed to sign in through the provider. none allows all.",
    ),
    adminGroup: optionalText(
      "text",
      (value) => value,
      'Members of this group (claim "groups") become administrators at sign-in; non-members lose the role.',
    ),
  },
};

function readSubject(address: string): string {
  const url = URL.parse(address);
  const isSubject =
    url?.protocol === "https:" || (url?.protocol === "mailto:" && /^[^@\s<>]+@[^@\s<>]+$/.test(url.pathname));
  if (!isSubject) throw new BadValue(say`must be a URL such as "mailto:you@example.org" or "https://example.org"`);
  return address;
}

function readMailbox(mailbox: string): string {
  const isMailbox = /^(?:[^<>@"\p{Cc}]{1,100}<)?[^\s@<>()",;:\\]{1,64}@[A-Za-z0-9.-]{1,253}>?$/u.test(mailbox);
  if (!isMailbox || mailbox.includes("<") !== mailbox.endsWith(">")) {
    throw new BadValue(say`must be an email address, with or without a name: "Larder <larder@example.org>"`);
  }
  return mailbox;
}

/** An issuer is compared letter by letter: a slash at its end belongs to it (OpenID Connect Discovery 1.0, §4.3). */
function readIssuer(address: string): string {
  readService(address);
  return address;
}

function readLabel(label: string): string {
  if (!/^\P{Cc}{1,80}$/u.test(label)) throw new BadValue(say`must be 1 to 80 characters on one line`);
  return label;
}

function readScopes(scopes: string): string {
  const names = scopes.split(/\s+/).filter((name) => name !== "");
  if (!names.includes("openid")) throw new BadValue(say`must be words separated by spaces, including "openid"`);
  return names.join(" ");
}

function readDomain(domain: string): string {
  if (!/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(domain)) throw new BadValue(say`must be domains such as "example.org"`);
  return domain.toLowerCase();
}

function readAppleId(id: string): string {
  if (!/^[A-Z0-9]{10}$/.test(id)) throw new BadValue(say`must be ten capital letters and digits, as shown by Apple`);
  return id;
}

function readTopic(topic: string): string {
  if (!/^[A-Za-z0-9.-]{1,255}$/.test(topic)) throw new BadValue(say`must be a bundle ID such as "org.example.app"`);
  return topic;
}
