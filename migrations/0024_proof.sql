-- Until when a session counts as confirmed: its owner gave the password, showed a passkey, or signed in again.
ALTER TABLE sessions ADD COLUMN confirmed_until INTEGER;
--> statement-breakpoint
-- 0 where nobody knows the password, because the server made one up.
ALTER TABLE users ADD COLUMN has_password INTEGER NOT NULL DEFAULT 1;
--> statement-breakpoint
-- Accounts that a first sign-in by a provider made: account and link are of the same moment.
UPDATE users SET has_password = 0 WHERE EXISTS (
  SELECT 1 FROM oidc_identities i
  WHERE i.user_id = users.id AND i.created_at BETWEEN users.created_at AND users.created_at + 10000);
