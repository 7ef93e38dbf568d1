-- Sign-ins that a client began in a browser and that wait for the person there (features/clients/login-flow).
CREATE TABLE `login_flows` (
	`id` integer PRIMARY KEY NOT NULL,
	`token_hash` blob NOT NULL,
	`poll_hash` blob,
	`program` text NOT NULL,
	`client_address` text NOT NULL,
	`address_key` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`user_id` integer,
	`options` text,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "login_flows_agreed" CHECK((user_id IS NULL) = (options IS NULL))
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `login_flows_token` ON `login_flows` (`token_hash`);
--> statement-breakpoint
CREATE UNIQUE INDEX `login_flows_poll` ON `login_flows` (`poll_hash`) WHERE poll_hash IS NOT NULL;
--> statement-breakpoint
CREATE INDEX `login_flows_address` ON `login_flows` (`address_key`);
--> statement-breakpoint
CREATE INDEX `login_flows_expiry` ON `login_flows` (`expires_at`);
--> statement-breakpoint
CREATE INDEX `login_flows_user` ON `login_flows` (`user_id`) WHERE user_id IS NOT NULL;
