-- The accounts whose address waits for its confirmation: what waits for them opens when mail.verify is switched off.
CREATE INDEX `users_unconfirmed` ON `users` (`id`) WHERE email_unconfirmed_since IS NOT NULL;
