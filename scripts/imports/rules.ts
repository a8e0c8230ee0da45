/** Which part of `src` may import which. Parts are the folders, and the files, directly under `src`. */
export interface Rules {
  /** Paths, relative to the root, that a part may import; a path that ends in `/` is everything below it. */
  readonly arrows: Readonly<Record<string, readonly string[]>>
  /** Where a package may be imported. A package that is not named here may be imported nowhere. */
  readonly packages: Readonly<Record<string, PackageRule>>
  /**
   * Text that stands only in these files, e.g. `process.env`. A path that ends in `/` is everything below it.
   */
  readonly onlyIn: Readonly<Record<string, readonly string[]>>
}

interface PackageRule {
  /** Files, or folders that end in `/`; a pattern that starts with `*` fits the end of a path. */
  readonly in: readonly string[]
  /** Its types may be named anywhere. */
  readonly typesAnywhere?: true
}

/** Parts that join the others: they may import everything. */
const EVERYTHING = ['*']

/** What the rooms know of chains: the interface, and the words that it speaks. */
const CHAINS = [
  'chains/chain.ts',
  'chains/capabilities.ts',
  'chains/request.ts',
  'chains/effects.ts',
  'chains/answer.ts',
  'chains/families.ts',
  'chains/attempt.ts',
  'chains/rpc/rpc.ts',
  'chains/speed.ts',
  'chains/sponsoring.ts',
  'chains/evm/content.ts',
  'chains/solana/content.ts',
  'chains/stellar/content.ts',
  'chains/stellar/model/operation.ts',
]

/** Comparisons with a type of networks. */
const COMPARISONS = ['evm', 'solana', 'stellar'].flatMap((type) =>
  ['===', '!==', 'case'].map((compared) => `${compared} '${type}'`),
)

/**
 * What may compare types of networks: the tables in which a type is a row, and what speaks the words or the
 * protocol of one. Everything else asks a table, or whether the chain has a capability.
 */
const KNOW_NETWORK_TYPES = [
  'chains/',
  'handlers/codecs/',
  'networks/',
  'relayers/policies/policies.ts',
  // The shape of keys: which secret an account derives, which signatures a key service makes, where addresses
  // are equal.
  'relayers/accounts/source-accounts.ts',
  'relayers/shared-keys.ts',
  'signers/key.ts',
  // Words for people, which differ by type.
  'cli/api/transaction-lines.ts',
  'diagnosis/next-action.ts',
  // Protocols of one type: its nodes, its calls, the users that pay in its tokens.
  'cli/restore/',
  'handlers/present/decoded-calls.ts',
  'plugins/runtime/context.ts',
  'sponsoring/fee-payment.ts',
]

/** What every part may import: it knows no one itself. */
const COMMON = ['errors.ts', 'log.ts', 'lib/']

/** Folders whose content callers manage and that store it themselves. */
const MANAGED = [
  'access/',
  'audit/',
  'database/db.ts',
  'database/locks/transact.ts',
  'database/tables/',
  'security/',
  ...COMMON,
]

/**
 * The arrows. They point from the shell to the rooms, from the rooms to the two outside worlds
 * (`chains/chain.ts` and `database/`), and never back. A folder may always import itself.
 */
const ARROWS: Rules['arrows'] = {
  'main.ts': ['cli/'],
  'cli/': [
    'plugins/remote.ts',
    // The console and the commands say in the same words whom a transaction pays, and how much.
    '../console/src/format/',
    // What reads the data of other products is a folder beside the service.
    '../importers/',
    'app.ts',
    'audit/',
    'chains/families.ts',
    // The evidence of a restore compares instructions.
    'chains/solana/wire/',
    'config/',
    'contract/exact-integers.ts',
    'contract/operations.ts',
    'database/',
    'networks/',
    'notifications/keys.ts',
    'notifications/keys-store.ts',
    'relayers/',
    'reports/report-rows.ts',
    'security/',
    'signers/',
    'transactions/model/transitions.ts',
    'transactions/store/decisions-store.ts',
    'transactions/watch/decide.ts',
    'transactions/store/reset-store.ts',
    'telemetry/',
    ...COMMON,
  ],
  'app.ts': EVERYTHING,
  'wiring/': EVERYTHING,
  'http/': ['access/api-key.ts', 'access/principal.ts', 'access/scope.ts', 'contract/', ...COMMON],
  'contract/': ['../generated/', ...COMMON],
  'access/': ['audit/', 'contract/operations.ts', 'database/', 'security/', 'spending/', ...COMMON],
  'sign-in/': ['access/', 'audit/', 'database/', 'security/', ...COMMON],
  // It stands in front of the handlers of some operations.
  'second-person/': [
    'access/',
    'audit/',
    'contract/exact-integers.ts',
    'contract/operations.ts',
    'database/',
    'http/handler.ts',
    'networks/network.ts',
    'notifications/notification.ts',
    ...COMMON,
  ],
  'spending/': ['chains/effects.ts', 'database/', ...COMMON],
  'audit/': ['database/', ...COMMON],
  // A plugin is a client of the API: here is only what runs it.
  'plugins/': [
    'access/',
    'audit/',
    'chains/effects.ts',
    'chains/request.ts',
    'contract/exact-integers.ts',
    'http/connections/sockets/endpoint.ts',
    'http/handler.ts',
    'contract/operations.ts',
    'database/db.ts',
    'database/locks/transact.ts',
    'database/lease.ts',
    'database/processes.ts',
    'events/',
    'relayers/accounts/pool.ts',
    'relayers/relayer.ts',
    'schedules/cron.ts',
    'spending/',
    'transactions/model/before-send.ts',
    'workers/loop.ts',
    ...COMMON,
  ],
  // The database is handed through to the rooms: only its type is known here.
  'handlers/': [
    'access/',
    'plugins/hooks/show-hooks.ts',
    'plugins/host.ts',
    'plugins/manage.ts',
    'plugins/messages.ts',
    'plugins/plugin.ts',
    'plugins/receive.ts',
    'alerts/',
    'audit/',
    'http/connections/sockets/endpoint.ts',
    'http/handler.ts',
    'contract/operations.ts',
    ...CHAINS,
    'database/db.ts',
    'networks/',
    'relayers/',
    'transactions/',
    'diagnosis/',
    'notifications/',
    'schedules/',
    'second-person/',
    'sign-in/sessions.ts',
    'sign-in/sessions-store.ts',
    'signers/creation/',
    'signers/manage.ts',
    'signers/store.ts',
    'contract/exact-integers.ts',
    'events/',
    'reports/',
    'spending/',
    'sponsoring/',
    ...COMMON,
  ],
  // A front on top of the operations: it calls them by this interface, which decides what a caller may do.
  'wallet/': [
    'contract/exact-integers.ts',
    'contract/operations.ts',
    'handlers/rpc/front.ts',
    'errors.ts',
    'lib/',
  ],
  'alerts/': [
    // Amounts for people are written in one place.
    '../console/src/format/',
    'access/principal.ts',
    'access/visibility-store.ts',
    'chains/chain.ts',
    'chains/effects.ts',
    'chains/families.ts',
    'chains/sponsoring.ts',
    'database/tables/',
    'database/db.ts',
    'networks/head-age.ts',
    'networks/network.ts',
    'networks/tokens.ts',
    'notifications/delivery/delivery-store.ts',
    'relayers/',
    'spending/',
    ...COMMON,
  ],
  'reports/': [
    'access/principal.ts',
    'access/visibility-store.ts',
    ...CHAINS,
    'contract/operations.ts',
    'database/db.ts',
    'networks/network.ts',
    'relayers/accounts/pool.ts',
    'transactions/model/',
    'transactions/store/lookups-store.ts',
    ...COMMON,
  ],
  'diagnosis/': [
    ...CHAINS,
    'contract/operations.ts',
    'database/db.ts',
    'networks/head-age.ts',
    'networks/network.ts',
    'relayers/',
    'transactions/',
    ...COMMON,
  ],
  'workers/': [
    'alerts/',
    'schedules/',
    ...CHAINS,
    'transactions/',
    'relayers/',
    'database/lease.ts',
    'database/processes.ts',
    'database/db.ts',
    'database/locks/transact.ts',
    'database/errors.ts',
    'database/sql-helpers.ts',
    'events/',
    'notifications/',
    ...COMMON,
  ],
  'transactions/': [
    'access/people-store.ts',
    'access/principal.ts',
    'access/visibility-store.ts',
    'audit/',
    ...CHAINS,
    'contract/operations.ts',
    'database/',
    'events/event.ts',
    'networks/head-age.ts',
    'networks/network.ts',
    'networks/chain-identity-store.ts',
    'notifications/',
    'relayers/',
    'signers/signer.ts',
    'spending/',
    'sponsoring/',
    ...COMMON,
  ],
  // It sends as any caller does.
  'schedules/': [
    'access/',
    'audit/',
    ...CHAINS,
    'contract/operations.ts',
    'database/',
    'relayers/',
    'transactions/',
    ...COMMON,
  ],
  'sponsoring/': [...CHAINS, 'chains/rpc/balance-reader.ts', 'database/', 'relayers/', ...COMMON],
  'relayers/': [
    ...CHAINS,
    'access/',
    'audit/',
    'database/',
    'events/',
    'networks/',
    'notifications/',
    'signers/',
    'spending/',
    ...COMMON,
  ],
  'notifications/': [
    'access/',
    'contract/operations.ts',
    'audit/',
    'database/',
    'events/',
    'security/',
    ...COMMON,
  ],
  'events/': ['access/', 'database/', ...COMMON],
  'security/': COMMON,
  'networks/': MANAGED,
  'signers/': [...MANAGED, 'database/sql-helpers.ts'],
  'chains/': [
    'networks/',
    'security/',
    'signers/ed25519.ts',
    'signers/secp256k1.ts',
    'signers/signer.ts',
    ...COMMON,
  ],
  'database/': COMMON,
  'config/': [
    'access/',
    'alerts/alert.ts',
    'audit/',
    'plugins/hooks/hook.ts',
    'plugins/hooks/hooks-store.ts',
    'plugins/plugin.ts',
    'plugins/settings-store.ts',
    'spending/',
    ...CHAINS,
    'contract/',
    'database/durability.ts',
    'database/engines/postgres/postgres-url.ts',
    'database/db.ts',
    'database/locks/transact.ts',
    'networks/',
    'notifications/',
    'relayers/',
    'schedules/cron.ts',
    'security/',
    'sign-in/settings.ts',
    'signers/load.ts',
    'signers/providers/',
    'signers/remote/',
    'signers/store.ts',
    'telemetry/settings.ts',
    ...COMMON,
  ],
  'errors.ts': [],
  'log.ts': [],
  // It implements what the rooms tell it, and knows nothing else of them.
  'metrics/': [
    'chains/chain.ts',
    'chains/rpc/rpc.ts',
    'http/observability/observe-requests.ts',
    'notifications/delivery/delivery.ts',
    'plugins/hooks/hook.ts',
    'plugins/host.ts',
    'relayers/health/health.ts',
    'transactions/model/due.ts',
    'transactions/model/observer.ts',
    'transactions/model/transaction.ts',
    ...COMMON,
  ],
  // It implements what the rooms tell it, as metrics do.
  'telemetry/': [
    'chains/rpc/rpc.ts',
    'database/query-observer.ts',
    'http/observability/observe-requests.ts',
    'metrics/series.ts',
    'notifications/delivery/delivery.ts',
    'security/secrets.ts',
    'transactions/model/observer.ts',
    'transactions/model/transaction.ts',
    ...COMMON,
  ],
  'lib/': [],
}

const PACKAGES: Rules['packages'] = {
  '@aws-sdk/client-kms': { in: ['signers/key-services/aws-kms.ts', 'signers/creation/aws-kms.ts'] },
  '@azure/identity': { in: ['signers/key-services/azure-identity.ts'] },
  '@azure/keyvault-keys': { in: ['signers/key-services/', 'signers/creation/azure-key-vault.ts'] },
  '@electric-sql/pglite': { in: ['database/'] },
  '@koa/router': { in: ['http/'] },
  '@noble/hashes': { in: ['signers/'] },
  '@scure/bip32': { in: ['signers/providers/mnemonic-key.ts'] },
  '@scure/bip39': { in: ['signers/providers/mnemonic-key.ts'] },
  '@stellar/stellar-sdk': { in: ['chains/stellar/', 'signers/'] },
  '@opentelemetry/api': { in: ['telemetry/'] },
  '@opentelemetry/core': { in: ['telemetry/'] },
  '@opentelemetry/otlp-exporter-base': { in: ['telemetry/'] },
  '@opentelemetry/otlp-transformer': { in: ['telemetry/'] },
  '@opentelemetry/resources': { in: ['telemetry/'] },
  '@opentelemetry/sdk-logs': { in: ['telemetry/'] },
  '@opentelemetry/sdk-metrics': { in: ['telemetry/'] },
  '@opentelemetry/sdk-trace': { in: ['telemetry/'] },
  '@solana/kit': { in: ['chains/solana/', 'signers/'] },
  ajv: { in: ['contract/'] },
  'ajv-formats': { in: ['contract/'] },
  croner: { in: ['schedules/cron.ts'] },
  'google-auth-library': { in: ['signers/key-services/google-cloud-login.ts'] },
  'hash-wasm': { in: ['lib/hash.ts', 'lib/hash-wasm-keccak.d.ts'] },
  'ipaddr.js': { in: ['security/'] },
  koa: { in: ['http/'] },
  'koa-bodyparser': { in: ['http/'] },
  // SQL is written in the stores and in database/; elsewhere the handle is only passed on.
  kysely: { in: ['database/', '*store.ts'], typesAnywhere: true },
  nodemailer: { in: ['notifications/receivers/mail.ts'] },
  'openapi-backend': { in: ['contract/'] },
  // It is loaded only for a deployment where people sign in.
  'openid-client': { in: ['sign-in/provider.ts'] },
  pg: { in: ['database/'] },
  'pg-protocol': { in: ['database/engines/'] },
  pino: { in: ['log.ts'], typesAnywhere: true },
  'prom-client': { in: ['metrics/'] },
  secp256k1: { in: ['signers/'] },
  uuid: { in: ['transactions/model/'] },
  viem: { in: ['chains/evm/', 'signers/'] },
  // It is loaded only for a deployment with plugins.
  rolldown: { in: ['plugins/bundle.ts'] },
  ws: { in: ['chains/evm/read/heads.ts', 'http/connections/sockets/', 'plugins/remote.ts'] },
  yaml: { in: ['contract/'] },
}

/** The rules of this repository. */
export const RULES: Rules = {
  arrows: ARROWS,
  packages: PACKAGES,
  // What the library of an HSM reads is no setting of the service.
  onlyIn: {
    'process.env': ['config/load.ts', 'config/api-access.ts', 'signers/pkcs11/module-process.ts'],
    ...Object.fromEntries(COMPARISONS.map((comparison) => [comparison, KNOW_NETWORK_TYPES])),
  },
}

/** Only this file takes the generated types; others take them from it. */
export const GENERATED_READER = 'contract/operations.ts'
