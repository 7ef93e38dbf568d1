-- Links with which new people choose their first password. A row stays, also after its link expired, until the person
-- has signed in or has a password: it says that the account still waits for its owner.
CREATE TABLE `welcomes` (
	`user_id` integer PRIMARY KEY NOT NULL,
	`token_hash` blob NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `welcomes_token` ON `welcomes` (`token_hash`);
--> statement-breakpoint
-- Whoever signed in, in whatever way, needs no welcome any more.
CREATE TRIGGER `sessions_end_welcome` AFTER INSERT ON `sessions`
BEGIN
	DELETE FROM welcomes WHERE user_id = NEW.user_id;
END;
--> statement-breakpoint
CREATE TRIGGER `users_end_welcome` AFTER UPDATE OF `password_hash` ON `users` WHEN NEW.password_hash <> OLD.password_hash
BEGIN
	DELETE FROM welcomes WHERE user_id = NEW.id;
END;
--> statement-breakpoint
-- A link that was sent to another address, or before the account was disabled, never works again.
CREATE TRIGGER `users_expire_welcome` AFTER UPDATE OF `disabled_at`, `email_key` ON `users`
	WHEN NEW.disabled_at IS NOT NULL OR NEW.email_key <> OLD.email_key
BEGIN
	UPDATE welcomes SET expires_at = 0 WHERE user_id = NEW.id;
END;
