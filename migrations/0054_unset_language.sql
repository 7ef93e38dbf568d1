-- The language had no effect, and each change of another setting stored the default. The next sign-in brings the language
-- of the browser.
UPDATE `users` SET `settings` = json_remove(`settings`, '$.language') WHERE json_extract(`settings`, '$.language') = 'en';
