import { isAddress } from '@solana/kit'
import { isRecord, type World } from '../shared/host.ts'
import { METHODS, type Method, type Settings } from './config.ts'
import { KoraError } from './errors.ts'
import { readFixedPrice } from './payment.ts'
import { describePolicies } from './policies.ts'
import { nextSponsor, payerOf, readPool, sponsorAt } from './pool.ts'
import { checkRules } from './rules.ts'
import { RESPOND_AFTER, type RespondAfter, send, sign } from './send.ts'
import { keepQuote, readCost, readFeeTokens, readPrice, requireToken, type Sponsor } from './sponsor.ts'
import { readTransaction, type Signatures, type UserTransaction, withSignature } from './transaction.ts'
import { composeTransfer } from './transfer.ts'

/** One call of a method. */
export interface MethodCall {
  readonly world: World
  readonly settings: Settings
  /** Parameters by name. */
  readonly params: Readonly<Record<string, unknown>>
  /** The name of the caller's key; empty for a caller without one. */
  readonly caller: string
}

/** What the plugin says that it is: the version of Kora whose methods it has. */
const VERSION = '2.2.0'

/** Answers a call. @throws KoraError, and the errors of the service */
export async function answer(method: string, call: MethodCall): Promise<unknown> {
  const known = METHODS.find((name) => name === method)
  if (known === undefined || call.settings.disabled.has(known))
    throw new KoraError('MethodNotFound', `The method ${method} does not exist or is disabled.`)
  if (known === 'liveness') return null
  if (known === 'getVersion') return { version: VERSION }
  // A caller learns of it before anything is read for him.
  if (known === 'signAndSendTransaction') respondAfterOf(call.params)
  return TABLE[known](await sponsorFor(known, call), call)
}

/** Methods about a transaction, whose fee payer names the relayer. */
const ABOUT_TRANSACTIONS: readonly Method[] = [
  'estimateTransactionFee',
  'signTransaction',
  'signAndSendTransaction',
]

/** Methods for which the pool takes a turn; the others ask the first relayer. */
const TAKES_TURN: readonly Method[] = ['getPayerSigner', 'transferTransaction']

/**
 * Reads the relayer that answers: the fee payer of the transaction, or the one that the caller names as the
 * signer, or the next one. @throws KoraError if the caller names another one than the transaction
 */
async function sponsorFor(method: Method, { world, settings, params }: MethodCall): Promise<Sponsor> {
  const { signer_key: address } = params
  const refuse = (payers: string) => new KoraError('InvalidRequest', `signer_key: expected ${payers}.`)
  const signer =
    address === undefined || address === null
      ? undefined
      : await sponsorAt(world, settings, { address, refuse })
  if (ABOUT_TRANSACTIONS.includes(method)) {
    const sponsor = await payerOf(world, settings, params.transaction)
    if (signer !== undefined && signer.address !== sponsor.address) throw refuse(sponsor.address)
    return sponsor
  }
  if (signer !== undefined) return signer
  const { pool } = settings
  return nextSponsor(world, TAKES_TURN.includes(method) ? settings : { ...settings, pool: pool.slice(0, 1) })
}

type Handler = (sponsor: Sponsor, call: MethodCall) => Promise<unknown>

const TABLE: Readonly<Record<Exclude<Method, 'liveness' | 'getVersion'>, Handler>> = {
  getBlockhash: async ({ rpc }) => {
    const { value } = await rpc<{ value: { blockhash: string } }>('getLatestBlockhash', [
      { commitment: 'confirmed' },
    ])
    return { blockhash: value.blockhash }
  },
  getConfig: async (sponsor, { world, settings }) => {
    const [pool, tokens] = await Promise.all([readPool(world, settings), readFeeTokens(sponsor)])
    return {
      fee_payers: pool.map(({ address }) => address),
      validation_config: describePolicies(
        sponsor,
        tokens.map(({ mint }) => mint),
      ),
      enabled_methods: enabledMethods(settings),
    }
  },
  getPayerSigner: async ({ address, paymentAddress }) => ({
    signer_address: address,
    payment_address: paymentAddress,
  }),
  getSupportedTokens: async (sponsor) => ({
    tokens: (await readFeeTokens(sponsor)).map(({ mint }) => mint),
  }),
  estimateTransactionFee: async (sponsor, { params, settings }) => {
    const transaction = await read(sponsor, params, params.sig_verify === true ? 'all' : 'any')
    const { fee_token: mint } = params
    const { fee, rent } = await readCost(transaction, sponsor.rpc)
    const lamports = fee + rent
    const result = {
      fee_in_lamports: lamports,
      signer_pubkey: sponsor.address,
      payment_address: sponsor.paymentAddress,
    }
    if (mint === undefined || mint === null) return result
    const token = requireToken(await readFeeTokens(sponsor), addressOf(params, 'fee_token'))
    if (settings.price.type === 'free') return { ...result, fee_in_token: 0 }
    if (settings.price.type === 'fixed') {
      const fixed = requireToken([token], settings.price.token)
      return { ...result, fee_in_token: toNumber(await readFixedPrice(sponsor, transaction, fixed)) }
    }
    const price = await readPrice(sponsor, transaction, token)
    await keepQuote(sponsor, token, { lamports, price })
    return { ...result, fee_in_token: toNumber(price) }
  },
  signTransaction: async (sponsor, { params, caller, settings }) => {
    const needsAll = params.sig_verify === true || settings.needsSignatures
    const transaction = await read(sponsor, params, needsAll ? 'all' : 'valid')
    const order = { transaction, userId: userOf(params, caller, transaction) }
    return { signed_transaction: await sign(sponsor, order), signer_pubkey: sponsor.address }
  },
  signAndSendTransaction: async (sponsor, { params, caller }) => {
    const respondAfter = respondAfterOf(params)
    const transaction = await read(sponsor, params, 'all')
    const order = { transaction, userId: userOf(params, caller, transaction) }
    const signature = await send(sponsor, order, respondAfter)
    return {
      signature,
      signed_transaction: withSignature(transaction, signature),
      signer_pubkey: sponsor.address,
    }
  },
  transferTransaction: async (sponsor, { params }) => {
    const { amount } = params
    const units = typeof amount === 'number' || typeof amount === 'string' ? String(amount) : ''
    if (!/^[1-9]\d{0,19}$/.test(units))
      throw new KoraError('InvalidParams', 'amount: expected a whole number of base units.')
    return composeTransfer(sponsor, {
      amount: BigInt(units),
      token: addressOf(params, 'token'),
      source: addressOf(params, 'source'),
      destination: addressOf(params, 'destination'),
    })
  },
}

function respondAfterOf({ respond_after: wanted = 'confirmed' }: MethodCall['params']): RespondAfter {
  const respondAfter = RESPOND_AFTER.find((one) => one === wanted)
  if (respondAfter !== undefined) return respondAfter
  throw new KoraError('InvalidParams', `respond_after: expected ${RESPOND_AFTER.join(', ')}.`)
}

/** Reads the transaction of a call. */
async function read(sponsor: Sponsor, params: MethodCall['params'], signatures: Signatures) {
  const { address: feePayer, settings, rpc } = sponsor
  const { opensAccounts, rules } = settings
  const transaction = await readTransaction(params.transaction, { feePayer, signatures, opensAccounts, rpc })
  checkRules(transaction, rules)
  return transaction
}

function addressOf(params: MethodCall['params'], name: string): string {
  const { [name]: value } = params
  if (typeof value !== 'string' || !isAddress(value))
    throw new KoraError('InvalidParams', `${name}: expected an address in base58.`)
  return value
}

/** The longest id of a user, so that the caller's name fits in front of it. */
const USER_ID = /^[!-~]{1,64}$/

/**
 * Whose limits count for all that no user has signed, and no application has vouched for. No user has this
 * name.
 */
const UNSIGNED = '(unsigned)'

/**
 * Names whose limits a request counts against, apart for each caller: the user whom an application with a key
 * names, or the one who has signed. What a caller without a key says about himself proves nothing, nor does
 * an address that has not signed: otherwise a stranger uses up others' limits.
 */
function userOf(
  { user_id: named }: MethodCall['params'],
  caller: string,
  { user, isSigned }: UserTransaction,
): string {
  if (named !== undefined && named !== null && (typeof named !== 'string' || !USER_ID.test(named)))
    throw new KoraError('InvalidParams', 'user_id: expected 1 to 64 visible ASCII characters.')
  const proved = isSigned ? user : UNSIGNED
  return `${caller.slice(0, 60)}/${caller === '' ? proved : (named ?? proved)}`
}

/** Kora's amounts are JSON numbers. */
function toNumber(amount: bigint): number {
  if (amount > BigInt(Number.MAX_SAFE_INTEGER))
    throw new KoraError('FeeEstimationFailed', 'The fee is more than a JSON number holds exactly.')
  return Number(amount)
}

function enabledMethods({ disabled }: Settings): object {
  const names = [...METHODS, 'estimateBundleFee', 'signBundle', 'signAndSendBundle']
  return Object.fromEntries(
    names.map((name) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      METHODS.some((method) => method === name) && !disabled.has(name),
    ]),
  )
}

/** Reads the parameters of a request: an object, or a list with one. */
export function readParams(params: unknown): Readonly<Record<string, unknown>> {
  const only = Array.isArray(params) && params.length <= 1 ? (params[0] ?? {}) : (params ?? {})
  if (!isRecord(only)) throw new KoraError('InvalidParams', 'params: expected an object.')
  return only
}
