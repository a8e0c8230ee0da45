import { isAddress } from '@solana/kit'
import type { FailureLimits } from '../shared/exposure.ts'
import { Fields } from '../shared/fields.ts'
import { ENV_NAME, type Protection, readProtection } from './auth.ts'
import { type Rules, readRules } from './transactions/rules.ts'

/** The methods of Kora that the plugin has. */
export const METHODS = [
  'liveness',
  'estimateTransactionFee',
  'signTransaction',
  'signAndSendTransaction',
  'transferTransaction',
  'estimateBundleFee',
  'signBundle',
  'signAndSendBundle',
  'getBlockhash',
  'getConfig',
  'getPayerSigner',
  'getSupportedTokens',
  'getVersion',
] as const

/** The name of a method. */
export type Method = (typeof METHODS)[number]

/** How the next fee payer is chosen. */
export const STRATEGIES = ['round_robin', 'random', 'weighted'] as const
export type Strategy = (typeof STRATEGIES)[number]

/** A relayer of the pool. */
export interface Member {
  readonly id: string
  /** Its share, with the strategy `weighted`. */
  readonly weight: number
}

/**
 * `margin`: users pay the price of a quote. `free`: they pay nothing. `fixed`: an amount of one token,
 * whatever the fee is, or with `isStrict` only where the quote is not higher.
 */
export type PriceModel =
  | { readonly type: 'margin' }
  | { readonly type: 'free' }
  | { readonly type: 'fixed'; readonly token: string; readonly amount: bigint; readonly isStrict: boolean }

/** The settings of the plugin: its field `config` in the configuration file. */
export interface Settings {
  /** The relayers that pay the fees: at least one. */
  readonly pool: readonly Member[]
  readonly strategy: Strategy
  readonly price: PriceModel
  /** The owner of the token accounts that receive payments; the relayer if absent. */
  readonly paymentAddress: string | undefined
  readonly protection: Protection
  readonly disabled: ReadonlySet<string>
  /** `signTransaction` needs all signatures of users, whatever the caller says. */
  readonly needsSignatures: boolean
  /** The relayer opens associated token accounts of others, and users pay the rent in their price. */
  readonly opensAccounts: boolean
  readonly rules: Rules
  /** Absent if the methods of bundles are switched off. */
  readonly bundles: Bundles | undefined
  /** The longest wait of `signAndSendTransaction`. */
  readonly timeoutSeconds: number
  /** How many transactions may fail at the relayer's cost within a day before further ones are refused. */
  readonly failures: FailureLimits
}

/** Bundles of Jito. */
export interface Bundles {
  /** The environment variable with the address of the block engine. */
  readonly blockEngineUrlEnv: string
}

const DEFAULT_FAILURES = { payer: 3, all: 50, open: 60 }

/** Below the 30 s after which the service answers any request. */
const DEFAULT_TIMEOUT_SECONDS = 20

/** The most relayers of a pool: each of them is read where its address is not known yet. */
const MAX_MEMBERS = 50
const MAX_WEIGHT = 1_000

/** Reads the settings. Throws a sentence that names the wrong field. */
export function readSettings(config: unknown): Settings {
  const fields = new Fields('config', config ?? {})
  const settings: Settings = {
    pool: readPool(fields),
    strategy: fields.word('strategy', STRATEGIES) ?? 'round_robin',
    price: readPrice(fields),
    paymentAddress: fields.optionalText('payment_address'),
    protection: readProtection(fields, METHODS),
    disabled: new Set(fields.list('disabled_methods').map(String)),
    needsSignatures: fields.flag('force_sig_verify') ?? false,
    opensAccounts: fields.flag('open_token_accounts') ?? false,
    rules: readRules(fields),
    bundles: readBundles(fields),
    timeoutSeconds: fields.integer('timeout_seconds', 1, 25) ?? DEFAULT_TIMEOUT_SECONDS,
    failures: readFailures(fields),
  }
  fields.refuseOthers()
  const { paymentAddress, disabled, price, opensAccounts } = settings
  if (paymentAddress !== undefined && !isAddress(paymentAddress))
    throw new Error('config.payment_address: expected an address in base58.')
  const unknown = [...disabled].find((name) => !METHODS.some((method) => method === name))
  if (unknown !== undefined) throw new Error(`config.disabled_methods: ${unknown} is no method.`)
  const paysForRent = price.type === 'margin' || (price.type === 'fixed' && price.isStrict)
  if (opensAccounts && !paysForRent)
    throw new Error(
      'config.open_token_accounts: users must pay the rent, so price must be margin, or fixed and strict.',
    )
  return settings
}

/** Reads `relayer_id`, or `relayers`. */
function readPool(fields: Fields): readonly Member[] {
  const listed = fields.optionalList('relayers')
  if (listed === undefined) return [{ id: fields.text('relayer_id', RELAYER_ID), weight: 1 }]
  if (fields.any('relayer_id') !== undefined)
    throw new Error('config: has both relayer_id and relayers; one of them is expected.')
  if (listed.length === 0 || listed.length > MAX_MEMBERS)
    throw new Error(`config.relayers: expected 1 to ${MAX_MEMBERS} relayers.`)
  const pool = listed.map((each, index) => {
    const member = new Fields(`config.relayers[${index}]`, each)
    const read = { id: member.text('id', RELAYER_ID), weight: member.integer('weight', 1, MAX_WEIGHT) ?? 1 }
    member.refuseOthers()
    return read
  })
  const ids = pool.map(({ id }) => id)
  const twice = ids.find((id, index) => ids.indexOf(id) < index)
  if (twice !== undefined) throw new Error(`config.relayers: ${twice} is in it twice.`)
  return pool
}

const RELAYER_ID = /^.{1,200}$/

const MAX_U64 = 2n ** 64n - 1n

/** Reads `price`: a word, or an object. */
function readPrice(fields: Fields): PriceModel {
  const given = fields.any('price') ?? 'margin'
  if (given === 'margin' || given === 'free') return { type: given }
  const price = new Fields('config.price', given)
  const type = price.word('type', ['margin', 'free', 'fixed'])
  if (type !== 'fixed') {
    price.refuseOthers()
    if (type === undefined) throw new Error('config.price.type: expected margin, free or fixed.')
    return { type }
  }
  const token = price.text('token', /^[1-9A-HJ-NP-Za-km-z]{32,44}$/)
  const amount = price.any('amount')
  const units = typeof amount === 'number' || typeof amount === 'string' ? String(amount) : ''
  if (!/^[1-9]\d{0,19}$/.test(units) || BigInt(units) > MAX_U64)
    throw new Error('config.price.amount: expected a whole number of base units of the token, above 0.')
  const isStrict = price.flag('strict') ?? false
  price.refuseOthers()
  return { type, token, amount: BigInt(units), isStrict }
}

function readBundles(fields: Fields): Bundles | undefined {
  const bundles = fields.fields('bundles')
  const read = bundles && { blockEngineUrlEnv: bundles.text('block_engine_url_env', ENV_NAME) }
  bundles?.refuseOthers()
  return read
}

function readFailures(fields: Fields): FailureLimits {
  const given = fields.fields('failures')
  const read = (name: keyof typeof DEFAULT_FAILURES) =>
    given?.integer(name, 1, 100_000) ?? DEFAULT_FAILURES[name]
  const all = read('all')
  // All are paid to the same account.
  const failures = { payer: read('payer'), payee: all, all, open: read('open') }
  given?.refuseOthers()
  return failures
}
