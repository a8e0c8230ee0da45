import { type Kysely, sql } from 'kysely'

/**
 * Cuts the urls in events and deliveries to scheme and host. They are history: answers show no more of them, and credentials in their other
 * parts must not stay in the database.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // The authority ends at the first of these characters, and its user information at the last @.
  `create function masked_url(url text) returns text language sql immutable as $$
    select coalesce(regexp_replace(substring(url from '^[A-Za-z]+://[^/?#\\\\]*'), '//.*@', '//'), '***:/') || '/***' $$`,
  `update events set payload = jsonb_set(payload, '{custom_rpc_urls}', (
      select jsonb_agg(item || jsonb_build_object('url', masked_url(item ->> 'url')) order by position)
      from jsonb_array_elements(payload -> 'custom_rpc_urls') with ordinality as list (item, position)))
    where type = 'relayer_state_update' and jsonb_typeof(payload -> 'custom_rpc_urls') = 'array'
      and payload -> 'custom_rpc_urls' <> '[]'`,
  `update deliveries set last_try = jsonb_set(last_try, '{url}', to_jsonb(masked_url(last_try ->> 'url')))
    where last_try ->> 'url' is not null`,
  'drop function masked_url(text)',
]
