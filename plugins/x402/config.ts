import type { FailureLimits } from '../shared/exposure.ts'
import { Fields, normalized } from '../shared/fields.ts'
import { COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM, TOKEN_PROGRAMS } from '../shared/solana-transaction.ts'
import { readWindow, type Window } from '../shared/windows.ts'

/** A network on which payments are settled, and the relayer that pays the fees there. */
export interface NetworkSettings {
  /** CAIP-2, e.g. `eip155:8453`. */
  readonly network: string
  readonly family: 'eip155' | 'solana' | 'stellar'
  readonly relayerId: string
  /** EVM: the relayer that settles with `upto`, which needs one that has one account. */
  readonly uptoRelayerId: string
  /** The assets that are accepted, in lower case on EVM; any if absent. */
  readonly assets: ReadonlySet<string> | undefined
  /** EVM: factories whose calls may create the payer's wallet in the settlement (ERC-6492), in lower case. */
  readonly walletFactories: ReadonlySet<string>
  /**
   * EVM: the maximum gas of a settlement, so that a payer's contract cannot spend more of the relayer's
   * ether.
   */
  readonly maxGas: bigint
  /** EVM: what payers get for the gas of their approvals within a day, in wei; nothing if absent. */
  readonly approvalGas: { readonly payer: bigint; readonly all: bigint } | undefined
  /** EVM: payments by delegation (ERC-7710); none if absent. */
  readonly delegations: Delegations | undefined
  /** EVM: true if channels are served: the scheme `batch-settlement`. */
  readonly batchSettlement: boolean
  /** Solana: the maximum priority fee, in micro-lamports per compute unit. */
  readonly maxUnitPrice: bigint
  /** Solana: the maximum of compute units. */
  readonly maxUnits: number
  /** Solana: the programs of smart wallets that may pay. */
  readonly walletPrograms: ReadonlySet<string>
}

/** Who uses what payers have delegated. */
export interface Delegations {
  /** The contracts that do so for the relayer, in lower case. */
  readonly managers: ReadonlySet<string>
  /** The relayer that settles these payments, which needs one that has one account. */
  readonly relayerId: string
}

/** Lists the relayers that settle on a network, the one for most payments first. */
export function relayersOf({ relayerId, uptoRelayerId, delegations }: NetworkSettings): readonly string[] {
  return [...new Set([relayerId, uptoRelayerId, delegations?.relayerId ?? relayerId])]
}

/** Returns true if the operator trusts the asset. */
export function isListed({ assets }: Pick<NetworkSettings, 'assets'>, asset: string): boolean {
  return assets?.has(asset) === true
}

/**
 * A limit counts these together: the payments of one API key, to one payee, of all callers without a key, or
 * all.
 */
const LIMIT_WORDS = { per: ['key', 'payee', 'open', 'all'], times: 'settlements', amount: 'amount' } as const

/** A bound on what is settled in a window of time. */
export interface Limit extends Window<(typeof LIMIT_WORDS.per)[number]> {
  /** In whose smallest unit `amount` is; undefined for a limit of settlements alone. */
  readonly asset: string | undefined
}

/** The settings of the plugin: its field `config` in the configuration file. */
export interface Settings {
  readonly networks: ReadonlyMap<string, NetworkSettings>
  /** A settlement succeeded when the transaction has this status. */
  readonly waitFor: 'mined' | 'confirmed'
  /** How long a settlement waits for it; after that its answer is `settlement_pending`. */
  readonly timeoutMs: number
  /**
   * For how long the same payment gets the same answer; if absent, for as long as its transaction is kept.
   */
  readonly repeatMs: number | undefined
  /** How long ids of the extension `payment-identifier` are remembered. */
  readonly idSeconds: number
  /** The accounts that may be paid, in lower case on EVM; any if absent. */
  readonly payees: ReadonlySet<string> | undefined
  readonly limits: readonly Limit[]
  /** The payees whose payments an API key may read, by the id of the key. */
  readonly readers: ReadonlyMap<string, ReadonlySet<string>>
  /** The origins whose resources are listed when they are paid for, by their payee. */
  readonly discovery: ReadonlyMap<string, ReadonlySet<string>>
  /** How many payments may fail at the relayer's cost within a day on a network. */
  readonly failures: FailureLimits
}

/** Settlements that strangers at an open path can have a day, if the operator says nothing. */
const DEFAULT_LIMITS: readonly Limit[] = [
  { per: 'open', windowSeconds: 86_400, times: 1000, amount: undefined, asset: undefined },
]

const DEFAULT_FAILURES: FailureLimits = { payer: 2, payee: 10, all: 30, open: 60 }

/**
 * EVM: enough for USDC with a contract's signature and the creation of a wallet. More lets payers spend more
 * of the relayer's ether.
 */
const DEFAULT_MAX_GAS = 500_000

/** Solana: what the specification of the scheme names: 5 lamports for each compute unit. */
const DEFAULT_MAX_UNIT_PRICE = 5_000_000

/** Solana: what the specification of the scheme names. */
const DEFAULT_MAX_UNITS = 400_000

/**
 * Below the 90 s for which the clients of npm wait; the service gives a plugin as long as its entry says, 300
 * s by default.
 */
const DEFAULT_TIMEOUT_SECONDS = 80

/**
 * Longer than resource servers and payers repeat a request. The host keeps at most 10,000 values for a
 * plugin.
 */
const DEFAULT_ID_SECONDS = 3600

/** Reads the settings. Throws a sentence that names the wrong field. */
export function readSettings(config: unknown): Settings {
  const fields = new Fields('config', config ?? {})
  const networks = fields
    .list('networks')
    .map((each, index) => readNetwork(`config.networks[${index}]`, each))
  if (networks.length === 0) throw new Error('config.networks: name at least one network.')
  const byName = new Map(networks.map((each) => [each.network, each]))
  if (byName.size < networks.length) throw new Error('config.networks: each network may appear once.')
  const settings = {
    networks: byName,
    waitFor: fields.word('wait_for', ['mined', 'confirmed']) ?? 'mined',
    timeoutMs: (fields.integer('timeout_seconds', 1, 300) ?? DEFAULT_TIMEOUT_SECONDS) * 1000,
    repeatMs: milliseconds(fields.integer('repeat_seconds', 1, 10_000_000_000)),
    idSeconds: fields.integer('id_seconds', 60, 10_000_000) ?? DEFAULT_ID_SECONDS,
    payees: fields.addresses('payees'),
    limits:
      fields.optionalList('limits')?.map((each, index) => readLimit(`config.limits[${index}]`, each)) ??
      DEFAULT_LIMITS,
    failures: readFailures(fields),
    readers: readReaders(fields),
    discovery: readDiscovery(fields),
  }
  fields.refuseOthers()
  return settings
}

function readReaders(given: Fields): ReadonlyMap<string, ReadonlySet<string>> {
  const readers = new Map<string, ReadonlySet<string>>()
  for (const [index, each] of given.list('readers').entries()) {
    const fields = new Fields(`config.readers[${index}]`, each)
    const key = fields.text('key', /^.{1,200}$/)
    const payees = fields.addresses('payees')
    fields.refuseOthers()
    if (payees === undefined) throw new Error(`config.readers[${index}].payees: name at least one.`)
    if (readers.has(key)) throw new Error(`config.readers[${index}].key: ${key} appears twice.`)
    readers.set(key, payees)
  }
  return readers
}

function readDiscovery(given: Fields): ReadonlyMap<string, ReadonlySet<string>> {
  const payees = new Map<string, Set<string>>()
  for (const [index, each] of given.list('discovery').entries()) {
    const path = `config.discovery[${index}]`
    const fields = new Fields(path, each)
    const payee = normalized(fields.text('payee', /^[0-9A-Za-z]{32,64}$/))
    const origin = fields.text('origin', /^https?:\/\/.{1,250}$/)
    fields.refuseOthers()
    if (URL.parse(origin)?.origin !== origin)
      throw new Error(`${path}.origin: expected an origin without a path, such as https://shop.example.`)
    payees.set(payee, (payees.get(payee) ?? new Set()).add(origin))
  }
  return payees
}

const RELAYER_ID = /^.{1,200}$/

function readNetwork(path: string, value: unknown): NetworkSettings {
  const fields = new Fields(path, value)
  const network = fields.text(
    'network',
    /^(eip155:\d{1,20}|solana:[1-9A-HJ-NP-Za-km-z]{32}|stellar:[a-z]{3,20})$/,
  )
  const relayerId = fields.text('relayer_id', RELAYER_ID)
  const settings = {
    network,
    family: network.slice(0, network.indexOf(':')) as NetworkSettings['family'],
    relayerId,
    uptoRelayerId:
      fields.any('upto_relayer_id') === undefined ? relayerId : fields.text('upto_relayer_id', RELAYER_ID),
    assets: fields.addresses('assets'),
    walletFactories: fields.addresses('wallet_factories') ?? new Set<string>(),
    maxGas: BigInt(fields.integer('max_gas', 50_000, 30_000_000) ?? DEFAULT_MAX_GAS),
    approvalGas: readApprovalGas(path, fields),
    delegations: readDelegations(path, fields, relayerId),
    batchSettlement: fields.flag('batch_settlement') ?? false,
    maxUnitPrice: BigInt(fields.integer('max_unit_price', 0, 1_000_000_000) ?? DEFAULT_MAX_UNIT_PRICE),
    maxUnits: fields.integer('max_units', 1000, 1_400_000) ?? DEFAULT_MAX_UNITS,
    walletPrograms: readWalletPrograms(path, fields),
  }
  fields.refuseOthers()
  return settings
}

/**
 * What is no wallet. The System program would let a payment count until its durable nonce is used, and the
 * token programs would let its signer do what no simulation is asked about.
 */
const NO_WALLETS: ReadonlySet<string> = new Set([SYSTEM_PROGRAM, COMPUTE_BUDGET_PROGRAM, ...TOKEN_PROGRAMS])

function readWalletPrograms(path: string, fields: Fields): NetworkSettings['walletPrograms'] {
  const programs = fields.addresses('wallet_programs') ?? new Set<string>()
  const wrong = [...programs].find(
    (each) => NO_WALLETS.has(each) || !/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(each),
  )
  if (wrong === undefined) return programs
  throw new Error(`${path}.wallet_programs: ${wrong.slice(0, 100)} is not the program of a smart wallet.`)
}

const WEI = /^[1-9]\d{0,29}$/

/** The tokens must be listed: whoever makes a token of his own could have ether for its approval. */
function readApprovalGas(path: string, given: Fields): NetworkSettings['approvalGas'] {
  const fields = given.fields('approval_gas')
  if (fields === undefined) return undefined
  const gas = { payer: BigInt(fields.text('payer', WEI)), all: BigInt(fields.text('all', WEI)) }
  fields.refuseOthers()
  if (given.addresses('assets') === undefined)
    throw new Error(`${path}.approval_gas: name the tokens in assets, too.`)
  return gas
}

/** The tokens must be listed: the block shows by their logs alone that an account has paid. */
function readDelegations(path: string, given: Fields, relayerId: string): NetworkSettings['delegations'] {
  const fields = given.fields('delegations')
  if (fields === undefined) return undefined
  const managers = fields.addresses('managers') ?? new Set<string>()
  const ownRelayer =
    fields.any('relayer_id') === undefined ? relayerId : fields.text('relayer_id', RELAYER_ID)
  fields.refuseOthers()
  if (managers.size === 0 || [...managers].some((each) => !/^0x[0-9a-f]{40}$/.test(each)))
    throw new Error(`${path}.delegations.managers: expected addresses of DelegationManagers, 0x….`)
  if (given.addresses('assets') === undefined)
    throw new Error(`${path}.delegations: name the tokens in assets, too.`)
  return { managers, relayerId: ownRelayer }
}

function readFailures(fields: Fields): FailureLimits {
  const given = fields.fields('failures')
  const read = (name: keyof FailureLimits) => given?.integer(name, 1, 100_000) ?? DEFAULT_FAILURES[name]
  const failures = { payer: read('payer'), payee: read('payee'), all: read('all'), open: read('open') }
  given?.refuseOthers()
  return failures
}

function readLimit(path: string, value: unknown): Limit {
  const fields = new Fields(path, value)
  const limit = { ...readWindow(path, fields, LIMIT_WORDS), asset: fields.optionalText('asset') }
  fields.refuseOthers()
  if ((limit.amount === undefined) !== (limit.asset === undefined))
    throw new Error(
      `${path}: amount and asset belong together, because units of different assets cannot be added.`,
    )
  return limit
}

function milliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000
}
