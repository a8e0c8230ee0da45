import { describe, expect, test } from 'vitest'
import { type File, goodFile, load, problemsOf, SECRET } from './fixture.ts'

type Change = (file: File) => unknown

/** A file with one change, or another file altogether when the change returns one. */
function changed(change: Change): unknown {
  const file = goodFile()
  return change(file) ?? file
}

const relayer =
  (fields: Record<string, unknown>): Change =>
  (file) =>
    void Object.assign(file.relayers[0] ?? {}, fields)
const policy = (policies: Record<string, unknown>): Change => relayer({ policies })
const signer =
  (fields: Record<string, unknown>): Change =>
  (file) =>
    void Object.assign(file.signers[0] ?? {}, fields)
const notification =
  (fields: Record<string, unknown>): Change =>
  (file) =>
    void Object.assign(file.notifications[0] ?? {}, fields)
const further =
  (fields: Record<string, unknown>): Change =>
  (file) =>
    void file.notifications.push({ id: 'further', ...fields })
const network =
  (fields: Record<string, unknown>): Change =>
  (file) =>
    void Object.assign((file.networks as object[])[0] ?? {}, fields)
const plainKey = (key: unknown): Change => signer({ type: 'plain', config: { key } })

/** Looks as if it were expanded. */
const VARIABLE = `${'$'}{KEY}`

const HSM = { module_path: 'lib.so', token_label: 'relayer', pin: { type: 'plain', value: SECRET } }

/** [what, fields of a good plugin, the one problem they make] */
const PLUGINS: [string, object, string][] = [
  ['without a file', { path: undefined }, 'plugins[0].path is missing: it must be a non-empty text'],
  ['of another language', { path: 'plugin.py' }, 'plugins[0].path must end in .ts, .mts, .js or .mjs'],
  [
    'whose file does not exist',
    { path: 'absent.ts' },
    'plugins[0].path names a file that does not exist; relative paths count from the folder of the configuration file, from "plugins" in it, and from the working directory',
  ],
  ['without time', { timeout: 0 }, 'plugins[0].timeout must be a whole number from 1 to 3600'],
  [
    'with an unknown scope',
    { scopes: ['everything'] },
    'plugins[0].scopes[0] must be a scope such as "transactions:write"; docs/api-keys.md lists them',
  ],
  [
    'whose rights contradict each other',
    { scopes: ['relayers:admin'], relayers: ['main'] },
    'plugins[0].scopes relayers:admin cannot be limited to relayers or networks. Remove the scope, or relayers and networks.',
  ],
  ['with an unknown hook', { hooks: { after_send: {} } }, 'plugins[0].hooks.after_send is not known'],
  [
    'that a caller would wait too long for',
    { hooks: { before_send: { timeout: 60 } } },
    'plugins[0].hooks.before_send.timeout must be a whole number from 1 to 20',
  ],
  [
    'with an unknown policy',
    { hooks: { before_send: { on_failure: 'retry' } } },
    'plugins[0].hooks.before_send.on_failure must be "refuse" or "allow"',
  ],
  [
    'without types of events',
    { hooks: { on_event: { types: [] } } },
    'plugins[0].hooks.on_event.types must name at least one type, or be absent',
  ],
  [
    'with an unknown type of events',
    { hooks: { on_event: { types: ['notification_test'] } } },
    'plugins[0].hooks.on_event.types[0] must be "transaction_update" or "transaction_undecided" or "transaction_stuck" or "transaction_reorganized" or "relayer_state_update" or "schedule_update" or "alert"',
  ],
  [
    'with a schedule whose times cannot be read',
    { hooks: { schedule: [{ name: 'a', cron: '61 * * * *' }] } },
    'plugins[0].hooks.schedule[0].cron cannot be read: CronPattern: Invalid value for minute: 61',
  ],
  [
    'with a schedule in no time zone',
    { hooks: { schedule: [{ name: 'a', cron: '* * * * *', timezone: 'Mars' }] } },
    'plugins[0].hooks.schedule[0].timezone must be an IANA name, e.g. Europe/Berlin',
  ],
  [
    'with a schedule that never comes',
    { hooks: { schedule: [{ name: 'a', cron: '0 0 31 2 *' }] } },
    'plugins[0].hooks.schedule[0].cron cannot be read: it names no time that ever comes',
  ],
  [
    'with two schedules of one name',
    {
      hooks: {
        schedule: [
          { name: 'a', cron: '* * * * *' },
          { name: 'a', cron: '0 * * * *' },
        ],
      },
    },
    'plugins[0].hooks.schedule has the name "a" more than once',
  ],
  [
    'that would see a secret of the service',
    { env: ['STORAGE_ENCRYPTION_KEY'] },
    'plugins[0].env may not hand STORAGE_ENCRYPTION_KEY to a plugin',
  ],
  [
    'that needs a variable that is not set',
    { env: ['ABSENT_VARIABLE'] },
    'plugins[0].env refers to the environment variable ABSENT_VARIABLE, which is not set',
  ],
  [
    'that would see credentials of callers',
    { forward_headers: ['Cookie'] },
    'plugins[0].forward_headers[0] must be the name of a header that carries no credential of the service (authorization, cookie, proxy-authorization)',
  ],
  ['with an unknown field', { time_out: 3 }, 'plugins[0].time_out is not known (did you mean "timeout"?)'],
  ['whose configuration is no object', { config: 3 }, 'plugins[0].config must be an object'],
]

/** [what, change of a good file, the one problem it makes] */
const FILES: [string, Change, string][] = [
  ['is a list', () => [], 'the file must be an object'],
  ['lacks relayers', () => ({ networks: [] }), 'relayers is missing: it must be a list'],
  [
    'has an unknown key',
    (file) => ({ ...file, relayer: [] }),
    'relayer is not known (did you mean "relayers"?)',
  ],
  ...PLUGINS.map(([what, plugin, problem]): [string, Change, string] => [
    `has a plugin ${what}`,
    (file) => ({ ...file, plugins: [{ id: 'x', path: import.meta.filename, ...plugin }] }),
    problem,
  ]),
  ['has relayers that are no list', (file) => ({ ...file, relayers: {} }), 'relayers must be a list'],
  [
    'has a relayer that is no object',
    (file) => ({ ...file, relayers: [1] }),
    'relayers[0] must be an object',
  ],
  [
    'has no relayer id',
    relayer({ id: undefined }),
    'relayers[0].id is missing: it must be an id of 1 to 100 letters, digits, ".", "_" or "-", not beginning with "."',
  ],
  [
    'has an id with a slash',
    relayer({ id: 'a/b' }),
    'relayers[0].id must be an id of 1 to 100 letters, digits, ".", "_" or "-", not beginning with "."',
  ],
  [
    'misspells a relayer key',
    relayer({ puased: true }),
    'relayers[0].puased is not known (did you mean "paused"?)',
  ],
  ['has paused as text', relayer({ paused: 'no' }), 'relayers[0].paused must be true or false'],
  [
    'has a relayer of an unknown type',
    relayer({ network_type: 'cosmos' }),
    'relayers[0] has the network_type "cosmos", which is not known; use "evm", "solana" or "stellar"',
  ],
  [
    'names no such network',
    relayer({ network: 'anvill' }),
    'relayer "local-1" refers to the evm network "anvill", which does not exist (did you mean "anvil"?)',
  ],
  [
    'names no such signer',
    relayer({ signer_id: 'other' }),
    'relayer "local-1" refers to the signer "other", which does not exist',
  ],
  [
    'names no such notification',
    relayer({ notification_id: 'ops2' }),
    'relayer "local-1" refers to the notification "ops2", which does not exist (did you mean "ops"?)',
  ],
  [
    'has a bad custom url',
    relayer({ custom_rpc_urls: ['ftp://x'] }),
    'relayers[0].custom_rpc_urls[0] must be an http://, https://, ws:// or wss:// url, or { "url", "weight" }',
  ],
  [
    'weighs a url too much',
    relayer({ custom_rpc_urls: [{ url: 'http://x', weight: 101 }] }),
    'relayers[0].custom_rpc_urls[0].weight must be a whole number from 0 to 100',
  ],
  [
    'has only urls of weight 0',
    relayer({ custom_rpc_urls: [{ url: 'http://x', weight: 0 }] }),
    'relayers[0] has only weight 0 in "custom_rpc_urls": no URL could be used',
  ],
  [
    'has only WebSocket urls',
    relayer({ custom_rpc_urls: ['ws://x', { url: 'wss://y', weight: 1 }] }),
    'relayers[0] has only WebSocket urls in "custom_rpc_urls": one http:// or https:// URL is also needed',
  ],
  [
    'has a weight for its WebSocket url only',
    relayer({ custom_rpc_urls: ['ws://x', { url: 'http://y', weight: 0 }] }),
    'relayers[0] has only weight 0 in "custom_rpc_urls": no URL could be used',
  ],
  [
    'misspells a policy',
    policy({ gas_price_capp: 1 }),
    'relayers[0].policies.gas_price_capp is not known (did you mean "gas_price_cap"?)',
  ],
  [
    'has a relayer that fills itself',
    policy({ top_up: { from: 'local-1', below: 1, to: 2, max_per_day: 3 } }),
    'relayer "local-1" has an impossible top_up: relayer "local-1" cannot refill itself; name another one in from',
  ],
  [
    'has a top_up from a relayer that is not there',
    policy({ top_up: { from: 'nobody', below: 1, to: 2, max_per_day: 3 } }),
    'relayer "local-1" has an impossible top_up: there is no relayer "nobody", which from names',
  ],
  [
    'wants private transactions without private endpoints',
    policy({ private_transactions: true }),
    'relayer "local-1" has private_transactions, but network "anvil" has no private_rpc_urls; add some first',
  ],
  [
    'has a negative cap',
    policy({ gas_price_cap: -1 }),
    'relayers[0].policies.gas_price_cap must be a whole number of wei from 0 to 2^128-1, also as a string',
  ],
  [
    'has a cap with a fraction',
    policy({ gas_price_cap: 1.5 }),
    'relayers[0].policies.gas_price_cap must be a whole number of wei from 0 to 2^128-1, also as a string',
  ],
  [
    'has a balance beyond u128',
    policy({ min_balance: String(2n ** 128n) }),
    'relayers[0].policies.min_balance must be a whole number of wei from 0 to 2^128-1, also as a string',
  ],
  [
    'lists a receiver that is no address',
    policy({ whitelist_receivers: ['0x12'] }),
    'relayers[0].policies.whitelist_receivers[0] must be an address: 0x and 40 hex digits, in one letter case or with the right checksum (EIP-55)',
  ],
  [
    'lists a receiver with a typing error',
    policy({ whitelist_receivers: ['0x3C44CdDdB6a900fa2b585dd299e03d12FA4293Bc'] }),
    'relayers[0].policies.whitelist_receivers[0] must be an address: 0x and 40 hex digits, in one letter case or with the right checksum (EIP-55)',
  ],
  [
    'defines a relayer twice',
    (file) => {
      const again = { ...file.relayers[0] }
      file.relayers.push(again)
    },
    'relayer "local-1" is defined more than once',
  ],
  [
    'works one account with two relayers',
    (file) => void file.relayers.push({ ...file.relayers[0], id: 'local-2' }),
    'relayers "local-1" and "local-2" are the same account: signer "dev" on chain id 31337',
  ],
  [
    'wants 1559 prices where there are none',
    (file) => {
      network({ features: [] })(file)
      policy({ eip1559_pricing: true })(file)
    },
    'relayer "local-1" has eip1559_pricing, but network "anvil" does not have the feature "eip1559"',
  ],
  [
    'has a signer of no kind',
    signer({ type: 'locl' }),
    'signers[0] has the type "locl", which is not known (did you mean "local"?); use one of local, plain, mnemonic, aws_kms, google_cloud_kms, azure_key_vault, turnkey, cdp, vault, vault_transit, pkcs11, web3signer',
  ],
  ['has a signer without config', signer({ config: undefined }), 'signers[0] has no "config"'],
  [
    'has a keystore without a path',
    signer({ config: { passphrase: { type: 'plain', value: SECRET } } }),
    'signers[0].config.path is missing: it must be a non-empty text',
  ],
  [
    'has a keystore without a passphrase',
    signer({ config: { path: 'x' } }),
    'signers[0].config has no "passphrase": { "type": "env" | "file" | "plain", "value": … }',
  ],
  [
    'has an HSM without a token',
    signer({ type: 'pkcs11', config: { ...HSM, key_label: 'hot', token_label: undefined } }),
    'signers[0].config.token_label is missing: it must be a non-empty text, unless there is a "slot"',
  ],
  [
    'has an HSM with a token and a slot',
    signer({ type: 'pkcs11', config: { ...HSM, key_label: 'hot', slot: 0 } }),
    'signers[0].config.token_label must be absent, because there is a "slot"',
  ],
  [
    'has an HSM whose key has an id that is no bytes',
    signer({ type: 'pkcs11', config: { ...HSM, key_id: '0x1' } }),
    'signers[0].config.key_id must be an even number of hex digits, such as 01',
  ],
  [
    'has a key that is a bare text',
    plainKey(SECRET),
    'signers[0].config.key must be an object such as { "type": "env", "value": "NAME_OF_A_VARIABLE" }, not the secret itself',
  ],
  [
    'has a secret of no kind',
    plainKey({ type: SECRET, value: SECRET }),
    'signers[0].config.key.type must be "plain" or "env" or "file"',
  ],
  [
    'refers to a variable that is not set',
    plainKey({ type: 'env', value: 'HOT_KEY' }),
    'signers[0].config.key refers to the environment variable HOT_KEY, which is not set',
  ],
  [
    'has a secret for the name of a variable',
    plainKey({ type: 'env', value: SECRET }),
    'signers[0].config.key refers to the environment variable, which is not set',
  ],
  [
    'refers to a file that is not there',
    plainKey({ type: 'file', value: SECRET }),
    'signers[0].config.key refers to a file that cannot be read (ENOENT)',
  ],
  [
    'has a notification of another type',
    notification({ type: 'pager' }),
    'notifications[0].type must be "webhook" or "slack" or "pagerduty" or "opsgenie" or "email"',
  ],
  [
    'has a relayer that names a notification for alerts',
    notification({ type: 'slack', signing_key: undefined }),
    'relayer "local-1" refers to the notification "ops" of type slack, which gets the alerts of every relayer without being named; expected one of type webhook',
  ],
  [
    'has a webhook for selected alerts',
    notification({ alerts: ['balance_low'] }),
    'notifications[0].alerts must be none: a webhook gets all events of the relayers that name it',
  ],
  [
    'has a notification by e-mail with a header in its address',
    further({ type: 'email', url: 'mailto:ops@example.com?bcc=x@example.com' }),
    'notifications[1].url must be mailto: and 1 to 20 addresses with commas between them, such as mailto:ops@example.com',
  ],
  [
    'has PagerDuty without a key',
    further({ type: 'pagerduty' }),
    'notifications[1].integration_key is missing: it must be the key that pagerduty shows for its integration',
  ],
  [
    'has an unknown alert',
    further({ type: 'slack', url: 'https://hooks.slack.com/x', alerts: ['weather'] }),
    'notifications[1].alerts[0] must be "balance_low" or "token_balance_high" or "transaction_stuck" or "relayer_disabled" or "endpoint_down" or "chain_halted" or "budget_nearly_used" or "delivery_dead"',
  ],
  [
    'has a notification with a bad url',
    notification({ url: 'example.com' }),
    'notifications[0].url must be an http:// or https:// url',
  ],
  [
    'has a webhook url with a variable inside',
    notification({ url: `https://example.com/${VARIABLE}` }),
    `notifications[0].url contains ${'$'}{…}, which is not expanded; use { "type": "env", "value": "NAME" } for the whole URL`,
  ],
  [
    'has a webhook url from a variable that is not set',
    notification({ url: { type: 'env', value: 'HOOK_URL' } }),
    'notifications[0].url refers to the environment variable HOOK_URL, which is not set',
  ],
  [
    'has a short signing key',
    notification({ signing_key: { type: 'plain', value: 'abc' } }),
    'notifications[0].signing_key must have at least 32 characters, or its webhooks can be forged',
  ],
  [
    'has an endpoint url with a variable inside',
    network({ rpc_urls: [{ url: `https://rpc.example/${VARIABLE}`, weight: 100 }] }),
    `networks[0].rpc_urls[0].url contains ${'$'}{…}, which is not expanded; use { "type": "env", "value": "NAME" } for the whole URL`,
  ],
  [
    'has a network without a chain id',
    network({ chain_id: undefined }),
    'networks[0].chain_id is missing: it must be a whole number of at least 1',
  ],
  [
    'has a chain id as text',
    network({ chain_id: '1' }),
    'networks[0].chain_id must be a whole number of at least 1',
  ],
  ['has a network without urls', network({ rpc_urls: [] }), 'networks[0] has no usable URL in "rpc_urls"'],
  [
    'has an unknown feature',
    network({ features: ['eip1559', 'eip4844'] }),
    'networks[0].features[1] must be "eip1559"',
  ],
  [
    'misspells a network key',
    network({ chainid: 1 }),
    'networks[0].chainid is not known (did you mean "chain_id"?)',
  ],
  [
    'inherits from nowhere',
    network({ from: 'nowhere' }),
    'networks[0].from names "nowhere", which does not exist',
  ],
  ['inherits in a circle', network({ from: 'anvil' }), 'networks[0].from names itself in a circle'],
]

/** [what, variables, the one problem they make] */
const VARIABLES: [string, Record<string, string | undefined>, string][] = [
  ['no API key', { API_KEY: undefined }, 'API_KEY is missing: it must have at least 32 characters'],
  ['an empty API key', { API_KEY: '' }, 'API_KEY is missing: it must have at least 32 characters'],
  [
    'a short API key',
    { API_KEY: SECRET.slice(0, 31) },
    'API_KEY has 31 characters, but must have at least 32',
  ],
  [
    'an API key with a space',
    { API_KEY: `${SECRET} ` },
    'API_KEY has characters that are not allowed in a header: use printable ASCII without spaces',
  ],
  [
    'a short previous API key',
    { API_KEY_PREVIOUS: 'short' },
    'API_KEY_PREVIOUS has 5 characters, but must have at least 32',
  ],
  ['a port beyond the last', { APP_PORT: '65536' }, 'APP_PORT must be a whole number from 0 to 65535'],
  ['a port that is a word', { APP_PORT: 'http' }, 'APP_PORT must be a whole number from 0 to 65535'],
  [
    'a rate of nothing',
    { RATE_LIMIT_REQUESTS_PER_SECOND: '0' },
    'RATE_LIMIT_REQUESTS_PER_SECOND must be a whole number from 1 to 1000000',
  ],
  ...['*', 'https://app.example/', 'app.example', 'https://*.example/a', 'null', 'file://'].map(
    (origin): [string, Record<string, string>, string] => [
      `the origin ${origin}`,
      { RELAYER_CORS_ORIGINS: `https://fine.example,${origin}` },
      'RELAYER_CORS_ORIGINS must be a comma-separated list of origins such as https://app.example, without paths',
    ],
  ),
  ...[
    'relayer.example',
    'https://relayer.example/?a=1',
    'javascript:alert(1)',
    'https://a@relayer.example',
  ].map((url): [string, Record<string, string>, string] => [
    `the public url ${url}`,
    { RELAYER_PUBLIC_URL: url },
    'RELAYER_PUBLIC_URL must be an http:// or https:// url without a query, such as https://relayer.example',
  ]),
  ...[
    'mail.example.com',
    `smtp://relayer@mail.example.com`,
    `smtp://relayer:${SECRET}@mail.example.com/path`,
    `smtp://relayer:${SECRET}@mail.example.com?tls=no`,
    `smtps://relayer:${SECRET}@mail.example.com?tls=off`,
    `http://relayer:${SECRET}@mail.example.com`,
    `smtp://relayer:%zz@mail.example.com`,
  ].map((url): [string, Record<string, string>, string] => [
    `the SMTP server ${url}`,
    { RELAYER_SMTP_URL: url, RELAYER_SMTP_FROM: 'relayer@example.com' },
    'RELAYER_SMTP_URL must be smtp://user:password@host:587 or smtps://user:password@host:465, with special characters of the password percent-encoded; ?tls=off at the end of smtp:// sends plain text',
  ]),
  [
    'a password for an SMTP server without TLS',
    {
      RELAYER_SMTP_URL: `smtp://relayer:${SECRET}@mail.example.com?tls=off`,
      RELAYER_SMTP_FROM: 'relayer@example.com',
    },
    'RELAYER_SMTP_URL has a password and tls=off: the password would be sent as plain text',
  ],
  [
    'a sender with a name',
    { RELAYER_SMTP_URL: 'smtps://mail.example.com', RELAYER_SMTP_FROM: 'Relayer <relayer@example.com>' },
    'RELAYER_SMTP_FROM must be an address such as relayer@example.com',
  ],
  [
    'recipients without a server',
    { RELAYER_SMTP_RECIPIENT_DOMAINS: 'example.com' },
    'RELAYER_SMTP_FROM and RELAYER_SMTP_RECIPIENT_DOMAINS need RELAYER_SMTP_URL',
  ],
  [
    'an address as a domain of recipients',
    {
      RELAYER_SMTP_URL: 'smtps://mail.example.com',
      RELAYER_SMTP_FROM: 'relayer@example.com',
      RELAYER_SMTP_RECIPIENT_DOMAINS: 'example.com,ops@example.com',
    },
    'RELAYER_SMTP_RECIPIENT_DOMAINS must be a comma-separated list of domains such as example.com',
  ],
  [
    'a host of the metrics with a port',
    { RELAYER_METRICS_HOSTS: 'relayer.example:8081' },
    'RELAYER_METRICS_HOSTS must be a comma-separated list of host names without ports, or *',
  ],
  [
    'a proxy with a name',
    { RELAYER_TRUSTED_PROXIES: '10.0.0.0/8,proxy.example' },
    'RELAYER_TRUSTED_PROXIES must be a comma-separated list of IP addresses and networks such as 10.0.0.0/8',
  ],
  [
    'a number in exponents',
    { MAX_CONNECTIONS: '1e3' },
    'MAX_CONNECTIONS must be a whole number from 1 to 100000',
  ],
  [
    'another kind of database',
    { DATABASE_URL: `mysql://u:${SECRET}@h/d` },
    'DATABASE_URL must be a url that starts with postgres:// or postgresql://',
  ],
  [
    'an unknown log level',
    { LOG_LEVEL: 'loud' },
    'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent',
  ],
  [
    'metrics that are neither on nor off',
    { METRICS_ENABLED: 'maybe' },
    'METRICS_ENABLED must be one of true, false',
  ],
  [
    'a port for metrics beyond the last, though they are off',
    { METRICS_PORT: '65536' },
    'METRICS_PORT must be a whole number from 0 to 65535',
  ],
  [
    'one port for two',
    { METRICS_ENABLED: 'true', METRICS_PORT: '8080' },
    'METRICS_PORT and APP_PORT must not be the same',
  ],
  ['an unknown mode', { NODE_ENV: 'staging' }, 'NODE_ENV must be one of production, development, test'],
  [
    'a misspelled setting',
    { RELAYER_MAX_INFLIGHT: '1' },
    'the environment variable RELAYER_MAX_INFLIGHT is not known (did you mean "RELAYER_MAX_IN_FLIGHT"?)',
  ],
]

describe('a configuration is refused with exactly one reason when the file', () => {
  test.each(FILES)('%s', (_what, change, problem) => {
    expect(problemsOf({ file: changed(change) })).toEqual([problem])
  })

  test('is no JSON, without quoting it', () => {
    const problems = problemsOf({ file: `{"relayers": [], "x": ${SECRET}}` })
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(/config\.json is not JSON/)
    expect(problems.join()).not.toContain(SECRET)
  })

  test.each([
    ['YAML', 'relayers:\n  - id: local-1\n'],
    ['JSON with a comment', '{\n  // the relayers\n  "relayers": []\n}'],
    ['JSON with a comma at the end of a list', '{ "relayers": [1,] }'],
  ])('is %s, with what is taken', (_what, file) => {
    expect(problemsOf({ file })).toEqual([
      expect.stringMatching(
        /config\.json is not JSON.*\. Only JSON is taken, without comments and commas at the end of lists; YAML is not$/,
      ),
    ])
  })

  test('names a folder of networks that is not there', () => {
    const [problem] = problemsOf({ file: changed((file) => ({ ...file, networks: 'nowhere' })) })
    expect(problem).toMatch(
      /^networks: the folder \S+\/config\/nowhere \(beside the configuration file\) or \S+\/nowhere \(from the working directory\) cannot be read \(ENOENT\)$/,
    )
  })
})

describe('a configuration is refused with exactly one reason when the environment has', () => {
  test.each(VARIABLES)('%s', (_what, env, problem) => {
    expect(problemsOf({ file: goodFile(), env })).toEqual([problem])
  })
})

test('all that is wrong is reported together, without any secret', () => {
  const file = changed((file) => {
    relayer({ paused: 'no', network: 'nope' })(file)
    plainKey({ type: 'env', value: SECRET })(file)
    notification({ url: SECRET, signing_key: SECRET })(file)
    network({ rpc_urls: [SECRET], chain_id: SECRET })(file)
  })
  const problems = problemsOf({ file, env: { API_KEY: SECRET.slice(0, 20), APP_PORT: SECRET } })
  expect(problems.length).toBeGreaterThanOrEqual(8)
  expect(problems.join('\n')).not.toContain(SECRET.slice(0, 20))
})

const NETWORKS = {
  evm: { type: 'evm', network: 'mine', chain_id: 5, symbol: 'X', is_testnet: true, rpc_urls: ['https://s'] },
  solana: { type: 'solana', network: 'mine', is_testnet: true, rpc_urls: ['https://s'] },
  stellar: { type: 'stellar', network: 'mine', passphrase: 'p', is_testnet: true, rpc_urls: ['https://s'] },
} as const

const TYPES = Object.keys(NETWORKS) as (keyof typeof NETWORKS)[]

/** A file whose only relayer has this policy. */
function fileWith(type: keyof typeof NETWORKS, allowed_rpc_methods: unknown) {
  const relayer = { id: 'one', name: 'One', network: 'mine', network_type: type, signer_id: 'dev' }
  const policies = { allowed_rpc_methods }
  return { ...goodFile(), relayers: [{ ...relayer, policies }], networks: [NETWORKS[type]] }
}

describe.each(TYPES)('allowed_rpc_methods of a relayer on %s', (type) => {
  test.each([[['eth_call', 'getHealth']], [[]]])('%j is kept', (methods) => {
    const { relayers } = load({ file: fileWith(type, methods) })
    expect(relayers[0]?.policies.allowedRpcMethods).toEqual(methods)
  })

  test('absent is not the same as empty', () => {
    const { relayers } = load({ file: fileWith(type, undefined) })
    expect(relayers[0]?.policies).not.toHaveProperty('allowedRpcMethods')
  })

  test.each([[['a b']], [['']], [[1]], ['eth_call']])('%j stops the start', (methods) => {
    expect(problemsOf({ file: fileWith(type, methods) }).join()).toContain('allowed_rpc_methods')
  })
})
