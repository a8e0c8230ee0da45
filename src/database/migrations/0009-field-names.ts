import { type Kysely, sql } from 'kysely'

/**
 * Renames columns, stored values and channels to the terms of the field, and restricts every column that holds one of a fixed set of
 * values. `database/schema.ts` describes the columns.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  'alter table transactions rename column line to source_account',
  'alter table transactions rename column intent to purpose',
  'alter table transactions rename constraint transactions_line to transactions_source_account',
  'alter table attempts rename column line to source_account',
  'alter table notifications rename column url_by_api to url_untrusted',
  'alter table deliveries rename column lane to ordering_key',
  "update transactions set purpose = 'gap_filler' where purpose = 'filler'",
  "update transactions set purpose = 'setup' where purpose = 'errand'",
  "update attempts set kind = 'gap_filler' where kind = 'filler'",
  "update attempts set kind = 're_sign' where kind = 'renew'",
  "update attempts set kind = 'setup' where kind = 'errand'",
  "update attempts set outcome = 'expired' where outcome = 'lapsed'",
  `update attempts set draft = draft - 'lapsesAt' || jsonb_build_object('expiresAt', draft -> 'lapsesAt')
    where draft ? 'lapsesAt'`,
  `update attempts set draft = draft - 'foreign' || jsonb_build_object('externallySigned', draft -> 'foreign')
    where draft ? 'foreign'`,
  // Requests and drafts of EVM had a form of their own; now those of all chains have the form of `lib/exact-json.ts`.
  `create function exact_integer(amount jsonb) returns jsonb language sql immutable as $$
    select case when amount is not null then jsonb_build_object('$int', amount) end $$`,
  `create function exact_evm_request(old jsonb) returns jsonb language sql immutable as $$
    select jsonb_strip_nulls(jsonb_build_object(
      'type', 'evm', 'to', old -> 'to', 'value', exact_integer(old -> 'value'), 'data', old -> 'data',
      'gasLimit', exact_integer(old -> 'gas_limit'), 'gasPrice', exact_integer(old -> 'gas_price'),
      'maxFeePerGas', exact_integer(old -> 'max_fee_per_gas'),
      'maxPriorityFeePerGas', exact_integer(old -> 'max_priority_fee_per_gas'), 'speed', old -> 'speed',
      'validUntil', case when old ? 'valid_until' then jsonb_build_object('$time', old -> 'valid_until') end)) $$`,
  "update transactions set request = exact_evm_request(request) where not request ? 'type'",
  `update events set payload = jsonb_set(payload, '{request}', exact_evm_request(payload -> 'request'))
    where jsonb_typeof(payload -> 'request') = 'object' and not (payload -> 'request') ? 'type'`,
  `update attempts set draft = jsonb_strip_nulls(jsonb_build_object(
      'type', 'evm', 'to', draft -> 'to', 'value', exact_integer(draft -> 'value'), 'data', draft -> 'data',
      'gasLimit', exact_integer(draft -> 'gas_limit'),
      'fees', case when draft ? 'gas_price'
        then jsonb_build_object('kind', 'legacy', 'gasPrice', exact_integer(draft -> 'gas_price'))
        else jsonb_build_object('kind', 'eip1559', 'maxFeePerGas', exact_integer(draft -> 'max_fee_per_gas'),
          'maxPriorityFeePerGas', exact_integer(draft -> 'max_priority_fee_per_gas')) end))
    where not draft ? 'type'`,
  'drop function exact_evm_request(jsonb)',
  'drop function exact_integer(jsonb)',
  // An event keeps the row of its transaction as it was then, so its keys are the old column names.
  `update events set payload = payload - 'line' - 'intent' || jsonb_build_object(
      'source_account', payload -> 'line',
      'purpose', case payload ->> 'intent'
        when 'filler' then 'gap_filler' when 'errand' then 'setup' else payload ->> 'intent' end)
    where payload ? 'intent'`,
  // No url contains a quotation mark, so the text between two of them is a key.
  `update events set payload = replace(payload::text, '"byApi"', '"untrusted"')::jsonb
    where payload::text like '%"byApi"%'`,
  `update relayers set custom_rpc_urls = replace(custom_rpc_urls::text, '"byApi"', '"untrusted"')::jsonb
    where custom_rpc_urls is not null`,
  `update network_urls set rpc_urls = replace(rpc_urls::text, '"byApi"', '"untrusted"')::jsonb`,
  ...[
    ['relayers', 'network_type', ['evm', 'solana', 'stellar']],
    [
      'transactions',
      'status',
      ['pending', 'sent', 'submitted', 'mined', 'confirmed', 'failed', 'canceled', 'expired'],
    ],
    [
      'transactions',
      'purpose',
      ['request', 'successor', 'cancel', 'expire', 'abandon', 'gap_filler', 'setup'],
    ],
    [
      'attempts',
      'kind',
      ['send', 'replace', 'cancel', 'expire', 'abandon', 'speed_up', 'gap_filler', 're_sign', 'setup'],
    ],
    ['attempts', 'outcome', ['signed', 'broadcast', 'refused', 'mined', 'reverted', 'superseded', 'expired']],
    ['finished_counts', 'status', ['confirmed', 'failed', 'canceled', 'expired']],
    ['deliveries', 'status', ['waiting', 'pending', 'delivered', 'dead']],
    ['notifications', 'paused_reason', ['operator', 'gone']],
    ['notification_keys', 'source', ['config', 'api']],
    ['file_entries', 'kind', ['relayer', 'notification', 'signer']],
  ].map(([table, column, values]) => {
    const list = (values as string[]).map((value) => `'${value}'`).join(', ')
    return `alter table ${table} add constraint ${table}_${column} check (${column} in (${list}))`
  }),
  // The trigger covers only columns that processes keep copies of; a failed health check changes a counter without copies.
  'drop trigger announce_fleet on relayers',
  'drop trigger announce_fleet on network_urls',
  'drop function announce_fleet()',
  `create function announce_relayers() returns trigger language plpgsql as $$
    begin
      perform pg_notify('relayers_changed', '');
      return null;
    end $$`,
  `create trigger announce_relayers after insert or update of name, network, network_type, address, signer_id,
      notification_id, paused, system_disabled, disabled_reason, policies, custom_rpc_urls, channels, removed_at
    on relayers for each statement execute function announce_relayers()`,
  `create trigger announce_relayers after insert or update or delete on network_urls
    for each statement execute function announce_relayers()`,
]
