-- Rights of the role of servers, which the owner of the schema grants after 'edgetable postgres create'; docs/postgres.md has
-- all steps from an empty database server.
GRANT USAGE ON SCHEMA edgetable TO edgetable_server;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA edgetable TO edgetable_server;
REVOKE INSERT, UPDATE, DELETE ON edgetable.schema_version FROM edgetable_server;
ALTER DEFAULT PRIVILEGES FOR ROLE edgetable_owner IN SCHEMA edgetable GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO edgetable_server;
-- To show the age of transactions of all roles, and not of its own alone: GRANT pg_read_all_stats TO edgetable_server;
