-- Settings that administrators changed in the page. Values of flags, variables and larder.toml have precedence.
CREATE TABLE `settings` (
	`key` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL,
	`changed_at` integer NOT NULL,
	`changed_by` text NOT NULL
) STRICT;
