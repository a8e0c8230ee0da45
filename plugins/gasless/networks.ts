import type { Hex } from 'viem'
import { Fields } from '../shared/fields.ts'
import { type FeeToken, readFeeToken } from './fees/tokens.ts'

/** The forwarders of ERC-2771 that the plugin knows. */
export const FORWARDER_KINDS = ['openzeppelin', 'minimal', 'thirdweb', 'thirdweb_chainless'] as const
export type ForwarderKind = (typeof FORWARDER_KINDS)[number]

/**
 * The accounts of EIP-7702 whose signed batches the plugin knows, and those that only an EntryPoint may call.
 */
export const ACCOUNT_KINDS = ['gelato', 'calibur', 'thirdweb', 'turnkey', 'entry_point'] as const
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
  /** For one that is a proxy (ERC-1967): what accounts may run behind it; undefined for one that is none. */
  readonly implementations: ReadonlySet<Hex> | undefined
}

/** An EntryPoint of ERC-4337 that the relayer calls with one user operation at a time. */
export interface EntryPoint {
  readonly address: Hex
  readonly maxGas: bigint
  /** The most gas of a validation, which the code of the account uses up as it likes. */
  readonly maxVerificationGas: bigint
  /** Those that may pay for an operation. */
  readonly paymasters: ReadonlySet<Hex>
  readonly codeHash: Hex | undefined
}

/** A contract that uses what accounts have delegated (ERC-7710). */
export interface DelegationManager {
  readonly address: Hex
  readonly maxGas: bigint
  readonly codeHash: Hex | undefined
  /** The contracts that may enforce conditions. */
  readonly enforcers: ReadonlySet<Hex>
  /** Those of them of which a delegation needs one, because it could be used for ever otherwise. */
  readonly limits: ReadonlySet<Hex>
}

/** The code behind accounts that are proxies (ERC-1967). */
export interface Implementation {
  readonly address: Hex
  /** The Keccak-256 of the proxy's own code. */
  readonly proxyCodeHash: Hex
}

/** A contract that creates accounts, for their first user operation. */
export interface Factory {
  readonly address: Hex
  readonly codeHash: Hex | undefined
  /** The most gas of a creation, besides that of a validation. */
  readonly maxCreationGas: bigint
}

/** A chain on which requests are sent, and the relayer whose account sends and pays them. */
export interface NetworkSettings {
  readonly chainId: number
  readonly relayerId: string
  readonly forwarders: ReadonlyMap<Hex, Forwarder>
  readonly delegates: ReadonlyMap<Hex, Delegate>
  readonly entryPoints: ReadonlyMap<Hex, EntryPoint>
  readonly delegationManagers: ReadonlyMap<Hex, DelegationManager>
  readonly implementations: ReadonlyMap<Hex, Implementation>
  /** Those that may create accounts; none if empty. */
  readonly factories: ReadonlyMap<Hex, Factory>
  /** True if an authorization for every chain (chain id 0) is accepted. */
  readonly anyChainAuthorizations: boolean
  /** False if users pay in a token for every request. */
  readonly sponsored: boolean
  readonly feeTokens: ReadonlyMap<Hex, FeeToken>
  /** The surcharge on the price of gas that users pay, in percent. */
  readonly marginPercent: number
  /** The receiver of fees. It is never the account that sends. */
  readonly feeCollector: Hex
}

/** Enough for a batch of a few calls. */
const DEFAULT_MAX_GAS = 1_000_000

/** For prices that move between the quote and the block. */
const DEFAULT_MARGIN_PERCENT = 10

/** Enough for a signature of a key, and for most that contracts check. */
const DEFAULT_MAX_VERIFICATION_GAS = 300_000

/** Enough for a proxy and its owners. */
const DEFAULT_MAX_CREATION_GAS = 400_000

/** Reads a network. Throws a sentence that names the wrong field. */
export function readNetwork(path: string, value: unknown, feeCollector: Hex): NetworkSettings {
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
  const entryPoints = fields
    .list('entry_points')
    .map((each, index) => readEntryPoint(`${path}.entry_points[${index}]`, each, maxGas))
  const managers = fields
    .list('delegation_managers')
    .map((each, index) => readManager(`${path}.delegation_managers[${index}]`, each, maxGas))
  const feeTokens = fields
    .list('fee_tokens')
    .map((each, index) => readFeeToken(`${path}.fee_tokens[${index}]`, each))
  if (feeTokens.length > 0 && BigInt(feeCollector) === 0n)
    throw new Error(`${path}.fee_tokens: config.fee_collector must name who gets the fees.`)
  const implementations = fields
    .list('implementations')
    .map((each, index) => readImplementation(`${path}.implementations[${index}]`, each))
  const factories = fields
    .list('factories')
    .map((each, index) => readFactory(`${path}.factories[${index}]`, each))
  if (factories.length > 0 && implementations.length === 0)
    throw new Error(`${path}.implementations: accounts that factories create need at least one.`)
  if (forwarders.length + delegates.length + implementations.length === 0)
    throw new Error(`${path}: name at least one of forwarders, delegates or implementations.`)
  const needsEntryPoint = implementations.length > 0 || delegates.some(({ kind }) => kind === 'entry_point')
  if (needsEntryPoint && entryPoints.length + managers.length === 0)
    throw new Error(
      `${path}.entry_points: accounts that only an EntryPoint or a DelegationManager may call need at least one.`,
    )
  const settings = {
    chainId,
    relayerId: fields.text('relayer_id', /^.{1,200}$/),
    forwarders: byAddress(`${path}.forwarders`, forwarders),
    delegates: byAddress(`${path}.delegates`, delegates),
    entryPoints: byAddress(`${path}.entry_points`, entryPoints),
    delegationManagers: byAddress(`${path}.delegation_managers`, managers),
    implementations: byAddress(`${path}.implementations`, implementations),
    factories: byAddress(`${path}.factories`, factories),
    anyChainAuthorizations: readBoolean(fields, `${path}.any_chain_authorizations`, false),
    sponsored: readBoolean(fields, `${path}.sponsored`, true),
    feeTokens: byAddress(`${path}.fee_tokens`, feeTokens),
    marginPercent: fields.integer('fee_margin_percentage', 0, 1000) ?? DEFAULT_MARGIN_PERCENT,
    feeCollector,
  }
  fields.refuseOthers()
  if (!settings.sponsored && feeTokens.length === 0)
    throw new Error(`${path}.fee_tokens: name at least one, because nobody else pays.`)
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
    codeHash: readHash(path, fields, 'code_hash'),
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
  const delegate = {
    address,
    kind,
    maxGas: readMaxGas(fields) ?? maxGas,
    codeHash: readHash(path, fields, 'code_hash'),
    implementations: readProxied(path, fields),
  }
  if (delegate.implementations !== undefined && kind !== 'entry_point')
    throw new Error(`${path}.implementations: only accounts of the kind entry_point are proxies.`)
  fields.refuseOthers()
  return delegate
}

function readProxied(path: string, fields: Fields): ReadonlySet<Hex> | undefined {
  const list = readAddresses(path, fields, 'implementations')
  return list.length === 0 ? undefined : new Set(list)
}

function readEntryPoint(path: string, value: unknown, maxGas: bigint): EntryPoint {
  const fields = new Fields(path, value)
  const verification = fields.integer('max_verification_gas', 20_000, 30_000_000)
  const entryPoint = {
    address: readAddress(`${path}.address`, fields.optionalText('address')),
    maxGas: readMaxGas(fields) ?? maxGas,
    maxVerificationGas: BigInt(verification ?? DEFAULT_MAX_VERIFICATION_GAS),
    paymasters: new Set(readAddresses(path, fields, 'paymasters')),
    codeHash: readHash(path, fields, 'code_hash'),
  }
  fields.refuseOthers()
  return entryPoint
}

function readManager(path: string, value: unknown, maxGas: bigint): DelegationManager {
  const fields = new Fields(path, value)
  const limits = readAddresses(path, fields, 'limiting_enforcers')
  if (limits.length === 0) throw new Error(`${path}.limiting_enforcers: name at least one.`)
  const manager = {
    address: readAddress(`${path}.address`, fields.optionalText('address')),
    maxGas: readMaxGas(fields) ?? maxGas,
    codeHash: readHash(path, fields, 'code_hash'),
    enforcers: new Set([...readAddresses(path, fields, 'enforcers'), ...limits]),
    limits: new Set(limits),
  }
  fields.refuseOthers()
  return manager
}

function readAddresses(path: string, fields: Fields, name: string): readonly Hex[] {
  return fields
    .list(name)
    .map((each, index) => readAddress(`${path}.${name}[${index}]`, String(each).toLowerCase()))
}

function readImplementation(path: string, value: unknown): Implementation {
  const fields = new Fields(path, value)
  const address = readAddress(`${path}.address`, fields.optionalText('address'))
  const proxyCodeHash = readHash(path, fields, 'proxy_code_hash')
  if (proxyCodeHash === undefined)
    throw new Error(`${path}.proxy_code_hash: expected 0x and 64 hexadecimal digits.`)
  fields.refuseOthers()
  return { address, proxyCodeHash }
}

function readFactory(path: string, value: unknown): Factory {
  const fields = new Fields(path, value)
  const creation = fields.integer('max_creation_gas', 50_000, 30_000_000)
  const factory = {
    address: readAddress(`${path}.address`, fields.optionalText('address')),
    codeHash: readHash(path, fields, 'code_hash'),
    maxCreationGas: BigInt(creation ?? DEFAULT_MAX_CREATION_GAS),
  }
  fields.refuseOthers()
  return factory
}

function readMaxGas(fields: Fields): bigint | undefined {
  const gas = fields.integer('max_gas', 50_000, 30_000_000)
  return gas === undefined ? undefined : BigInt(gas)
}

function readHash(path: string, fields: Fields, name: string): Hex | undefined {
  const hash = fields.optionalText(name)
  if (hash === undefined || /^0x[0-9a-f]{64}$/.test(hash)) return hash as Hex | undefined
  throw new Error(`${path}.${name}: expected 0x and 64 hexadecimal digits.`)
}

function byAddress<Entry extends { readonly address: Hex }>(
  path: string,
  list: readonly Entry[],
): ReadonlyMap<Hex, Entry> {
  const entries = new Map(list.map((each) => [each.address, each]))
  if (entries.size < list.length) throw new Error(`${path}: each address may appear once.`)
  return entries
}

/** Reads an address in lower case. */
export function readAddress(path: string, value: string | undefined): Hex {
  if (value !== undefined && /^0x[0-9a-f]{40}$/.test(value)) return value as Hex
  throw new Error(`${path}: expected an address, 0x and 40 hexadecimal digits.`)
}

function readBoolean(fields: Fields, path: string, preset: boolean): boolean {
  const value = fields.any(path.slice(path.lastIndexOf('.') + 1)) ?? preset
  if (typeof value !== 'boolean') throw new Error(`${path}: expected true or false.`)
  return value
}
