import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { wellKnownNetworks } from '../../config/networks.ts'
import { resolveFile } from '../../config/sources.ts'
import type { Config } from '../../config/types.ts'
import type { Replication } from '../../database/durability.ts'
import { type Network, networkId } from '../../networks/network.ts'
import type { RelayerAccounts } from '../../relayers/accounts/accounts.ts'
import type { RelayerConfig } from '../../relayers/relayer.ts'

/** The result for a line of the checklist. `what` says what is wrong, or how a person checks it. */
export type Result =
  | { readonly state: 'passed' }
  | { readonly state: 'failed' | 'by hand'; readonly what: string }

/** Everything that can be known of a deployment without starting it. */
export interface Facts {
  /**
   * The state of replication that the PostgreSQL server tells; absent without one, and if it does not answer.
   */
  readonly replication?: Replication | undefined
  readonly config: Config
  /** The configuration file as it is written. */
  readonly document: unknown
  /** The accounts of each relayer, by its id. */
  readonly accounts: ReadonlyMap<string, RelayerAccounts>
  readonly cwd: string
}

/** A line of docs/production-checklist.md. */
interface Line {
  readonly section: string
  /** The bold words at its beginning. */
  readonly title: string
  /** True if there are deployments in which the command decides it. */
  readonly isChecked: boolean
  run(facts: Facts): Result
}

const PASSED: Result = { state: 'passed' }

function byHand(what: string): Result {
  return { state: 'by hand', what }
}

/** Passes without problems. */
function failing(problems: readonly string[], remedy: string): Result {
  return problems.length === 0 ? PASSED : { state: 'failed', what: `${problems.join('; ')}. ${remedy}` }
}

function checked(section: string, title: string, run: Line['run']): Line {
  return { section, title, isChecked: true, run }
}

/** A line that nothing in the configuration decides. */
function asked(section: string, title: string, how: string | ((facts: Facts) => string)): Line {
  return {
    section,
    title,
    isChecked: false,
    run: (facts) => byHand(typeof how === 'string' ? how : how(facts)),
  }
}

/** The accounts whose keys every local chain of Foundry and Hardhat prints. */
const PUBLISHED = new Set([
  '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
  '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
  '0x90f79bf6eb2c4f870365e785982e1f101e93b906',
  '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65',
  '0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc',
  '0x976ea74026e726554db657fa54763abd0c3a0aa9',
  '0x14dc79964da2c08b23698b3d3cc7ca32193d9955',
  '0x23618e81e3f5cdf7f54c3d65f7fbc0abf5b21e8f',
  '0xa0ee7a142d267c1f36714e4a8f75612f20a79720',
])

/** The key file of `relayer init`. */
const STARTER_KEY = /[/\\]keys[/\\]local\.json$/

const KEYS: readonly Line[] = [
  checked('Keys', 'Own keys', ({ config, accounts }) => {
    const starters = new Set(
      config.signers.filter((one) => one.type === 'local' && STARTER_KEY.test(one.path)).map(({ id }) => id),
    )
    const problems = config.relayers.flatMap(({ id, signerId }) => {
      const addresses = accounts.get(id)?.addresses ?? []
      if (addresses.some((address) => PUBLISHED.has(address.toLowerCase())))
        return [`relayer "${id}" uses a key that is published`]
      return starters.has(signerId) ? [`relayer "${id}" uses the key of relayer init`] : []
    })
    return failing(problems, 'Create one: relayer keys create config/keys/<name>.json')
  }),
  checked('Keys', 'Private files', (facts) =>
    failing(
      secretFiles(facts).flatMap((path) => {
        const mode = modeOf(path)
        return mode !== undefined && (mode & OTHERS) !== 0
          ? [`others can use ${path} (mode ${(mode & 0o777).toString(8)})`]
          : []
      }),
      'chmod 600 them.',
    ),
  ),
  checked('Keys', 'No secrets in the file', ({ document }) =>
    failing(plainSecrets(document, ''), 'Use { "type": "file", … } or { "type": "env", … }.'),
  ),
  checked('Keys', 'Storage encryption key', ({ config }) =>
    failing(
      config.sealingKey === undefined ? ['STORAGE_ENCRYPTION_KEY is not set'] : [],
      'Set it: openssl rand -base64 32',
    ),
  ),
  asked(
    'Keys',
    'A copy of that key',
    'Find the copy without the help of this machine; it is not beside the backups of the database.',
  ),
  asked(
    'Keys',
    'Small balances',
    'Compare GET /api/v1/relayers/{relayer_id}/balance with what relayer report says of a usual day.',
  ),
]

const LIMITS: readonly Line[] = [
  checked('Damage limits', 'Gas price cap', ({ config }) =>
    failing(
      withoutPolicy(config, 'evm', 'gasPriceCap').map((id) => `relayer "${id}" has no gas_price_cap`),
      'Set one above the highest price that you want to pay.',
    ),
  ),
  checked('Damage limits', 'Known receivers', ({ config }) => {
    const open = [
      ...withoutPolicy(config, 'evm', 'whitelistReceivers'),
      ...withoutPolicy(config, 'solana', 'allowedPrograms'),
    ]
    if (open.length === 0) return PASSED
    return byHand(
      `If the receivers of ${open.join(', ')} are known, list them: whitelist_receivers on EVM, allowed_programs on Solana.`,
    )
  }),
  checked('Damage limits', 'Highest fees', ({ config }) =>
    failing(
      [
        ...withoutPolicy(config, 'stellar', 'maxFee').map((id) => `relayer "${id}" has no max_fee`),
        ...withoutPolicy(config, 'solana', 'maxFee').map(
          (id) => `relayer "${id}" has no max_allowed_fee_lamports`,
        ),
      ],
      'Set the highest fee of a transaction.',
    ),
  ),
  checked('Damage limits', 'Daily budgets', ({ config }) => {
    const without = config.relayers.filter(
      ({ policies }) => !policies.rules?.limits?.some(({ per }) => per === 'day' || per === 'hour'),
    )
    if (without.length === 0) return PASSED
    const ids = without.map(({ id }) => id).join(', ')
    return byHand(
      `${ids}: the file sets no budget for a day. Each API key that sends with them needs one for every asset: GET /api/v1/api-keys, field rules.limits.`,
    )
  }),
  checked('Damage limits', 'Minimum balance', ({ config }) =>
    failing(
      config.relayers
        .filter(({ policies }) => policies.minBalance === 0n)
        .map(({ id }) => `relayer "${id}" has min_balance 0`),
      'Set what must stay on the account.',
    ),
  ),
  checked('Damage limits', 'Limits of the file', ({ config }) =>
    failing(
      config.apiMayRelax.map((id) => `callers of the API may relax the policies of relayer "${id}"`),
      'Remove api_may_relax.',
    ),
  ),
]

const NODES: readonly Line[] = [
  checked('Nodes', 'Two providers', ({ config }) =>
    failing(
      config.relayers.flatMap((relayer) => endpointProblem(config, relayer) ?? []),
      'Name two URLs of your own with different providers.',
    ),
  ),
  asked(
    'Nodes',
    'An endpoint with history',
    'Ask one endpoint of each network for a block from before the longest outage that you want to survive.',
  ),
  checked('Nodes', 'Finality of rollups', ({ config }) => {
    const shallow = usedNetworks(config).filter(
      (network) =>
        'finality' in network && !network.isTestnet && !network.mempool && network.finality === 'depth',
    )
    if (shallow.length === 0) return PASSED
    return byHand(
      `${shallow.map(networkId).join(', ')} count blocks. If money leaves them once a transaction is confirmed, set "finality": "safe" or "finalized".`,
    )
  }),
]

const LOOPBACK = /^(localhost|127\..*|::1)$/

const NETWORK: readonly Line[] = [
  checked('Network', 'TLS proxy', ({ config: { server } }) =>
    failing(
      server.trustedProxies.length === 0 && !LOOPBACK.test(server.host)
        ? [`the service listens on ${server.host}, and RELAYER_TRUSTED_PROXIES names no proxy`]
        : [],
      'Put a TLS proxy in front, and name it.',
    ),
  ),
  checked('Network', 'Metrics port', ({ config: { metrics } }) =>
    metrics === undefined
      ? PASSED
      : byHand(`From another machine than that of Prometheus, port ${metrics.port} must not answer.`),
  ),
  checked('Network', 'Console', ({ config: { server } }) =>
    server.console
      ? byHand(
          'People open /console over TLS, each with an API key of their own: GET /api/v1/api-keys. Or set CONSOLE=off.',
        )
      : PASSED,
  ),
  asked(
    'Network',
    'People',
    'They sign in with your provider (sign_in), or have keys of their own: GET /api/v1/sessions shows only people whom you know.',
  ),
  asked('Network', 'Two people', ({ config: { secondPerson } }) =>
    secondPerson === undefined
      ? 'Set second_person, unless one administrator may widen rights alone.'
      : 'GET /api/v1/audit?action=bypassSecondPerson lists only emergencies that you remember.',
  ),
  checked('Network', 'No private URLs', ({ config }) =>
    failing(config.allowPrivateUrls ? ['RELAYER_ALLOW_PRIVATE_URLS is set'] : [], 'Unset it.'),
  ),
  checked('Network', 'Generated API key', ({ config }) =>
    failing(
      config.apiKeys.some((key) => new Set(key).size < LEAST_CHARACTERS)
        ? ['API_KEY repeats few characters, as no generator does']
        : [],
      'Set another: openssl rand -base64 33',
    ),
  ),
  asked(
    'Network',
    'Keys of applications',
    'GET /api/v1/api-keys lists one for each application, with the scopes and relayers that it needs. Only operators have API_KEY.',
  ),
]

/** A generated key of 32 characters has fewer different ones once in a billion times. */
const LEAST_CHARACTERS = 12

/** The check that is left to a person, because the copy of a managed service may be one of its disk. */
const STANDBYS = {
  asynchronous:
    'The server has standbys, and none is synchronous: a fail-over to one of them loses the last commits.',
  none: 'The server knows no standby: a service that copies its disk must do it synchronously.',
  unknown: 'SELECT sync_state FROM pg_stat_replication on the PostgreSQL server shows sync or quorum.',
} as const

const DATA: readonly Line[] = [
  checked('Data', 'Lasting database', ({ config: { database }, replication }) => {
    if (database.url === undefined)
      return byHand(`${database.dataDir} must be on a disk that survives the machine.`)
    if (replication === 'interrupted')
      return failing(
        ['no synchronous standby is there, and no commit ends'],
        'See docs/high-availability.md.',
      )
    return replication === 'synchronous' ? PASSED : byHand(STANDBYS[replication ?? 'unknown'])
  }),
  checked('Data', 'One process', ({ config: { database } }) =>
    database.url === undefined
      ? byHand(
          'The old container ends before the new one starts (Kubernetes: strategy: Recreate), and the volume is a local disk.',
        )
      : PASSED,
  ),
  checked('Data', 'Durability', ({ config: { database } }) => {
    if (database.url !== undefined)
      return byHand(
        'GET /api/v1/ready says "full" in components.database.durability: the settings of the server decide it.',
      )
    return failing(
      database.durability === 'full' ? [] : [`DURABILITY is ${database.durability}`],
      'Unset it.',
    )
  }),
  asked(
    'Data',
    'Restored backup',
    'Restore a backup on another machine, start it with --paused, and run relayer restore check.',
  ),
  asked('Data', 'Clock', 'timedatectl show -p NTPSynchronized says yes.'),
]

const OPERATION: readonly Line[] = [
  asked('Operation', 'Restart', 'Kill the process: something starts it again.'),
  asked(
    'Operation',
    'Time to stop',
    ({ config: { shutdownMs } }) =>
      `Between SIGTERM and SIGKILL there are more than ${shutdownMs / 1000} seconds (RELAYER_SHUTDOWN_SECONDS) and a few more.`,
  ),
  asked(
    'Operation',
    'Load balancer',
    ({ config: { shutdownGraceMs } }) =>
      `It polls GET /api/v1/ready more often than every ${shutdownGraceMs / 1000} seconds (RELAYER_SHUTDOWN_GRACE_SECONDS).`,
  ),
  checked('Operation', 'Notifications', ({ config }) =>
    failing(
      config.relayers
        .filter(({ notificationId }) => notificationId === undefined)
        .map(({ id }) => `relayer "${id}" tells no one`),
      'Set its notification_id.',
    ),
  ),
  checked('Operation', 'Low balances', ({ config }) =>
    failing(
      config.relayers
        .filter(({ policies }) => policies.warnBalance === undefined)
        .map(({ id }) => `relayer "${id}" has no warn_balance`),
      'Set the balance below which a person is told.',
    ),
  ),
  asked(
    'Operation',
    'A person is told',
    'Pause a relayer, or send a test event to each notification (POST /api/v1/notifications/{notification_id}/test): a person gets a message.',
  ),
  checked('Operation', 'Signed webhooks', ({ config }) =>
    failing(
      config.notifications
        .filter(({ signingKey }) => signingKey === undefined)
        .map(({ id }) => `notification "${id}" has no signing_key`),
      'Set one.',
    ),
  ),
  asked(
    'Operation',
    'Receivers verify',
    'Send a receiver a body with a wrong signature, and an old delivery again: it refuses both.',
  ),
  asked(
    'Operation',
    'Idempotency',
    'Send a request of an application twice: the answers have the same id. The rule "idempotency": "required" demands it of an API key.',
  ),
  checked('Operation', 'Valid configuration', () => PASSED),
]

/** All lines, in the order of the page. */
export const PRODUCTION_CHECKLIST: readonly Line[] = [
  ...KEYS,
  ...LIMITS,
  ...NODES,
  ...NETWORK,
  ...DATA,
  ...OPERATION,
]

/** The ids of the relayers on networks of a type that lack a policy. */
function withoutPolicy({ relayers }: Config, type: RelayerConfig['networkType'], policy: string): string[] {
  return relayers
    .filter(({ networkType, policies }) => networkType === type && !(policy in policies))
    .map(({ id }) => id)
}

function networkOf({ networks }: Config, relayer: RelayerConfig): Network | undefined {
  return networks.find(({ type, name }) => type === relayer.networkType && name === relayer.network)
}

function usedNetworks(config: Config): Network[] {
  return [...new Set(config.relayers.flatMap((relayer) => networkOf(config, relayer) ?? []))]
}

/** Two names below one domain are one provider. */
function endpointProblem(config: Config, relayer: RelayerConfig): string | undefined {
  const urls = (relayer.customRpcUrls ?? networkOf(config, relayer)?.rpcUrls ?? []).map(({ url }) => url)
  const known = new Set(wellKnownNetworks().flatMap(({ rpcUrls }) => rpcUrls.map(({ url }) => url)))
  const providers = new Set(urls.filter((url) => !known.has(url)).map(providerOf))
  if (providers.size >= 2) return undefined
  const found = providers.size === 0 ? 'only public endpoints of the catalogue' : `only ${[...providers][0]}`
  return `relayer "${relayer.id}" on ${relayer.networkType}:${relayer.network} uses ${found}`
}

function providerOf(url: string): string {
  const { hostname } = new URL(url)
  return /^[\d.]+$|^\[/.test(hostname) ? hostname : hostname.split('.').slice(-2).join('.')
}

/** Other users of the machine have these permissions on a file. */
const OTHERS = 0o077

/** The files with keys and secrets that the configuration refers to, and the .env beside it. */
function secretFiles({ config, document, cwd }: Facts): string[] {
  const folder = dirname(config.file)
  const keys = config.signers.flatMap((signer) => (signer.type === 'local' ? [signer.path] : []))
  const referred = referencesOf(document, '').flatMap(({ type, value }) =>
    type === 'file' ? [resolveFile(value, { folder, cwd })] : [],
  )
  return [...new Set([...keys, ...referred, join(folder, '.env')])]
}

function modeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mode
}

function plainSecrets(document: unknown, path: string): string[] {
  return referencesOf(document, path).flatMap(({ type, at }) =>
    type === 'plain' ? [`${at} is in the file`] : [],
  )
}

interface Found {
  readonly type: string
  readonly value: string
  /** The path in the file. */
  readonly at: string
}

/** Everything of the form `{ "type", "value" }` in the file. */
function referencesOf(value: unknown, at: string): Found[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => referencesOf(item, `${at}[${index}]`))
  if (typeof value !== 'object' || value === null) return []
  const { type, value: text } = value as Partial<Record<string, unknown>>
  if (typeof type === 'string' && typeof text === 'string') return [{ type, value: text, at }]
  return Object.entries(value).flatMap(([key, inner]) =>
    referencesOf(inner, at === '' ? key : `${at}.${key}`),
  )
}
