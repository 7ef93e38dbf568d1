-- Properties that WebDAV clients store with a file or folder. They are deleted with its row.
CREATE TABLE `node_properties` (
	`node_id` integer NOT NULL,
	`namespace` text NOT NULL,
	`name` text NOT NULL,
	`value` text NOT NULL,
	PRIMARY KEY(`node_id`, `namespace`, `name`),
	FOREIGN KEY (`node_id`) REFERENCES `nodes`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
