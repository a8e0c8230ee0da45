import type { Hex } from 'viem'
import type { FailureLimits } from '../shared/exposure.ts'
import { Fields } from '../shared/fields.ts'
import { readWindow, type Window } from '../shared/windows.ts'

/** The forwarders of ERC-2771 that the plugin knows. */
export const FORWARDER_KINDS = ['openzeppelin', 'minimal', 'thirdweb', 'thirdweb_chainless'] as const
export type ForwarderKind = (typeof FORWARDER_KINDS)[number]

/** The accounts of EIP-7702 whose signed batches the plugin knows. */
export const ACCOUNT_KINDS = ['gelato', 'calibur', 'thirdweb', 'turnkey'] as const
export type AccountKindName = (typeof ACCOUNT_KINDS)[number]

/** A forwarder that the relayer calls. All addresses are in lower case. */
export interface Forwarder {
  readonly address: Hex
  readonly kind: ForwarderKind
  /** The name and version of its EIP-712 domain; those of its kind if absent. */
  readonly domain: { readonly name: string; readonly version: string } | undefined
  /**
   * The contracts that may be called through it, each with its functions, or undefined for any function; any
   * contract that trusts the forwarder if undefined.
   */
  readonly targets: ReadonlyMap<Hex, ReadonlySet<string> | undefined> | undefined
  readonly maxGas: bigint
  readonly codeHash: Hex | undefined
}

/** A contract to which users' accounts may delegate. */
export interface Delegate {
  readonly address: Hex
  readonly kind: AccountKindName
  readonly maxGas: bigint
  /** The Keccak-256 of its code; any code if undefined. */
  readonly codeHash: Hex | undefined
}

/** A chain on which requests are sent, and the relayer whose account sends and pays them. */
export interface NetworkSettings {
  readonly chainId: number
  readonly relayerId: string
  readonly forwarders: ReadonlyMap<Hex, Forwarder>
  readonly delegates: ReadonlyMap<Hex, Delegate>
  /** True if an authorization for every chain (chain id 0) is accepted. */
  readonly anyChainAuthorizations: boolean
}

/** What a limit counts together: a user, an API key, all callers without a key, or all. */
const LIMIT_WORDS = { per: ['user', 'key', 'open', 'all'], times: 'requests', amount: 'gas' } as const

/** A bound on the requests, and on the gas limits that are signed, in a window of time. */
export type Limit = Window<(typeof LIMIT_WORDS.per)[number]>

/** The settings of the plugin: its field `config` in the configuration file. */
export interface Settings {
  readonly networks: ReadonlyMap<number, NetworkSettings>
  /** What `relayer_getCapabilities` names as the receiver of fees. It is never the account that sends. */
  readonly feeCollector: Hex
  /** A request succeeded when its transaction has this status. */
  readonly waitFor: 'mined' | 'confirmed'
  /** The longest wait of `relayer_sendTransactionSync`. */
  readonly timeoutMs: number
  /** A request that is not included for so long is taken back. */
  readonly validSeconds: number
  /** A signed deadline must be at least so far ahead. */
  readonly leastSeconds: number
  readonly limits: readonly Limit[]
  /** How many requests may fail at the relayer's cost within a day. */
  readonly failures: FailureLimits
}

const DAY_SECONDS = 86_400

/** What users, strangers and applications can have in a day if the operator says nothing. */
const DEFAULT_LIMITS: readonly Limit[] = [
  { per: 'user', windowSeconds: DAY_SECONDS, times: 20, amount: undefined },
  { per: 'open', windowSeconds: DAY_SECONDS, times: 200, amount: undefined },
  { per: 'key', windowSeconds: DAY_SECONDS, times: 10_000, amount: undefined },
]

const DEFAULT_FAILURES = { user: 3, all: 50, open: 100 }

/** Enough for a batch of a few calls. */
const DEFAULT_MAX_GAS = 1_000_000

const DEFAULT_TIMEOUT_SECONDS = 60
const DEFAULT_VALID_SECONDS = 600

/** Two blocks of the slowest chains, and time for the simulation. */
const DEFAULT_LEAST_SECONDS = 30

const ZERO: Hex = '0x0000000000000000000000000000000000000000'

/** Reads the settings. Throws a sentence that names the wrong field. */
export function readSettings(config: unknown): Settings {
  const fields = new Fields('config', config ?? {})
  const networks = fields
    .list('networks')
    .map((each, index) => readNetwork(`config.networks[${index}]`, each))
  if (networks.length === 0) throw new Error('config.networks: name at least one network.')
  const byChain = new Map(networks.map((each) => [each.chainId, each]))
  if (byChain.size < networks.length) throw new Error('config.networks: each chain_id may appear once.')
  const settings = {
    networks: byChain,
    feeCollector: readAddress('config.fee_collector', fields.optionalText('fee_collector') ?? ZERO),
    waitFor: fields.word('wait_for', ['mined', 'confirmed']) ?? 'mined',
    timeoutMs: (fields.integer('timeout_seconds', 1, 120) ?? DEFAULT_TIMEOUT_SECONDS) * 1000,
    validSeconds: fields.integer('valid_seconds', 60, 604_800) ?? DEFAULT_VALID_SECONDS,
    leastSeconds: fields.integer('least_seconds', 1, 3600) ?? DEFAULT_LEAST_SECONDS,
    limits:
      fields.optionalList('limits')?.map((each, index) => readLimit(`config.limits[${index}]`, each)) ??
      DEFAULT_LIMITS,
    failures: readFailures(fields),
  } satisfies Settings
  fields.refuseOthers()
  return settings
}

function readNetwork(path: string, value: unknown): NetworkSettings {
  const fields = new Fields(path, value)
  const chainId = fields.integer('chain_id', 1, 999_999_999_999_999)
  if (chainId === undefined) throw new Error(`${path}.chain_id: expected an integer.`)
  const maxGas = readMaxGas(fields) ?? BigInt(DEFAULT_MAX_GAS)
  const forwarders = fields
    .list('forwarders')
    .map((each, index) => readForwarder(`${path}.forwarders[${index}]`, each, maxGas))
  const delegates = fields
    .list('delegates')
    .map((each, index) => readDelegate(`${path}.delegates[${index}]`, each, maxGas))
  if (forwarders.length + delegates.length === 0)
    throw new Error(`${path}: name at least one of forwarders or delegates.`)
  const settings = {
    chainId,
    relayerId: fields.text('relayer_id', /^.{1,200}$/),
    forwarders: byAddress(`${path}.forwarders`, forwarders),
    delegates: byAddress(`${path}.delegates`, delegates),
    anyChainAuthorizations: readBoolean(path, fields, 'any_chain_authorizations'),
  }
  fields.refuseOthers()
  return settings
}

function readForwarder(path: string, value: unknown, maxGas: bigint): Forwarder {
  const fields = new Fields(path, value)
  const kind = fields.word('kind', FORWARDER_KINDS)
  if (kind === undefined) throw new Error(`${path}.kind: expected ${FORWARDER_KINDS.join(', ')}.`)
  const domain = fields.fields('domain')
  const targets = fields.optionalList('targets')
  const forwarder = {
    address: readAddress(`${path}.address`, fields.optionalText('address')),
    kind,
    domain: domain && {
      name: domain.text('name', /^.{1,100}$/),
      version: domain.text('version', /^.{1,20}$/),
    },
    targets: targets && new Map(targets.map((each, index) => readTarget(`${path}.targets[${index}]`, each))),
    maxGas: readMaxGas(fields) ?? maxGas,
    codeHash: readHash(path, fields),
  }
  domain?.refuseOthers()
  fields.refuseOthers()
  return forwarder
}

function readTarget(path: string, value: unknown): readonly [Hex, ReadonlySet<string> | undefined] {
  const fields = new Fields(path, value)
  const address = readAddress(`${path}.address`, fields.optionalText('address'))
  const selectors = fields.optionalList('selectors')?.map((each, index) => {
    if (typeof each === 'string' && /^0x[0-9a-fA-F]{8}$/.test(each)) return each.toLowerCase()
    throw new Error(`${path}.selectors[${index}]: expected 0x and 8 hexadecimal digits.`)
  })
  fields.refuseOthers()
  return [address, selectors && new Set(selectors)]
}

function readDelegate(path: string, value: unknown, maxGas: bigint): Delegate {
  const fields = new Fields(path, value)
  const kind = fields.word('kind', ACCOUNT_KINDS)
  if (kind === undefined) throw new Error(`${path}.kind: expected ${ACCOUNT_KINDS.join(', ')}.`)
  const address = readAddress(`${path}.address`, fields.optionalText('address'))
  const delegate = { address, kind, maxGas: readMaxGas(fields) ?? maxGas, codeHash: readHash(path, fields) }
  fields.refuseOthers()
  return delegate
}

function readMaxGas(fields: Fields): bigint | undefined {
  const gas = fields.integer('max_gas', 50_000, 30_000_000)
  return gas === undefined ? undefined : BigInt(gas)
}

function readHash(path: string, fields: Fields): Hex | undefined {
  const hash = fields.optionalText('code_hash')
  if (hash === undefined || /^0x[0-9a-f]{64}$/.test(hash)) return hash as Hex | undefined
  throw new Error(`${path}.code_hash: expected 0x and 64 hexadecimal digits.`)
}

function byAddress<Entry extends { readonly address: Hex }>(
  path: string,
  list: readonly Entry[],
): ReadonlyMap<Hex, Entry> {
  const entries = new Map(list.map((each) => [each.address, each]))
  if (entries.size < list.length) throw new Error(`${path}: each address may appear once.`)
  return entries
}

function readAddress(path: string, value: string | undefined): Hex {
  if (value !== undefined && /^0x[0-9a-f]{40}$/.test(value)) return value as Hex
  throw new Error(`${path}: expected an address, 0x and 40 hexadecimal digits.`)
}

function readBoolean(path: string, fields: Fields, name: string): boolean {
  const value = fields.any(name) ?? false
  if (typeof value !== 'boolean') throw new Error(`${path}.${name}: expected true or false.`)
  return value
}

function readFailures(fields: Fields): FailureLimits {
  const given = fields.fields('failures')
  const read = (name: keyof typeof DEFAULT_FAILURES) =>
    given?.integer(name, 1, 1_000_000) ?? DEFAULT_FAILURES[name]
  const all = read('all')
  const failures = { payer: read('user'), payee: all, all, open: read('open') }
  given?.refuseOthers()
  return failures
}

function readLimit(path: string, value: unknown): Limit {
  const fields = new Fields(path, value)
  const limit = readWindow(path, fields, LIMIT_WORDS)
  fields.refuseOthers()
  return limit
}
