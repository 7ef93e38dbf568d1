-- Uploads of sync clients: the chunks that each has beside its row of `uploads` (features/clients/chunked-uploads).
CREATE TABLE `client_chunks` (
	`upload_id` integer NOT NULL,
	`number` integer NOT NULL,
	`name` text NOT NULL,
	`file` text NOT NULL,
	`offset_bytes` integer NOT NULL,
	`size_bytes` integer NOT NULL,
	PRIMARY KEY(`upload_id`, `number`),
	FOREIGN KEY (`upload_id`) REFERENCES `uploads`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "client_chunks_bytes" CHECK(offset_bytes >= 0 AND size_bytes >= 0)
) STRICT;
