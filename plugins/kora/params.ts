import { isAddress } from '@solana/kit'
import { isRecord, type World } from '../shared/host.ts'
import type { Settings } from './config.ts'
import { KoraError } from './errors.ts'
import { readFixedPrice } from './payment.ts'
import { payerOf, sponsorAt } from './pool.ts'
import { RESPOND_AFTER, type RespondAfter } from './send.ts'
import { keepQuote, readCost, readFeeTokens, readPrice, requireToken, type Sponsor } from './sponsor.ts'
import { checkRules } from './transactions/rules.ts'
import { readTransaction, type Signatures, type UserTransaction } from './transactions/transaction.ts'

/** One call of a method. */
export interface MethodCall {
  readonly world: World
  readonly settings: Settings
  /** Parameters by name. */
  readonly params: Readonly<Record<string, unknown>>
  /** The name of the caller's key; empty for a caller without one. */
  readonly caller: string
}

/** Reads the parameters of a request: an object, or a list with one. */
export function readParams(params: unknown): Readonly<Record<string, unknown>> {
  const only = Array.isArray(params) && params.length <= 1 ? (params[0] ?? {}) : (params ?? {})
  if (!isRecord(only)) throw new KoraError('InvalidParams', 'params: expected an object.')
  return only
}

/** Reads the relayer that the caller names as the signer; undefined if he names none. @throws KoraError */
export async function signerNamed({ world, settings, params }: MethodCall): Promise<Sponsor | undefined> {
  const { signer_key: address } = params
  if (address === undefined || address === null) return undefined
  return sponsorAt(world, settings, { address, refuse: otherSigner })
}

/** Reads the fee payer of a transaction, whom the caller may name as well. @throws KoraError */
export async function payerFor(call: MethodCall, base64: unknown): Promise<Sponsor> {
  const signer = await signerNamed(call)
  const sponsor = await payerOf(call.world, call.settings, base64)
  if (signer !== undefined && signer.address !== sponsor.address) throw otherSigner(sponsor.address)
  return sponsor
}

function otherSigner(expected: string): KoraError {
  return new KoraError('InvalidRequest', `signer_key: expected ${expected}.`)
}

/** Reads a transaction for its relayer, by the rules. @throws KoraError */
export async function readFor(
  sponsor: Sponsor,
  base64: unknown,
  signatures: Signatures,
): Promise<UserTransaction> {
  const { address: feePayer, settings, rpc } = sponsor
  const { opensAccounts, rules } = settings
  const transaction = await readTransaction(base64, { feePayer, signatures, opensAccounts, rpc })
  checkRules(transaction, rules)
  return transaction
}

/** What a transaction costs the relayer, and its user in the token of the request, if there is one. */
export async function estimate(
  sponsor: Sponsor,
  transaction: UserTransaction,
  params: MethodCall['params'],
): Promise<{ readonly lamports: number; readonly price: bigint | undefined }> {
  const { fee, rent } = await readCost(transaction, sponsor.rpc)
  const lamports = fee + rent
  const { fee_token: mint } = params
  if (mint === undefined || mint === null) return { lamports, price: undefined }
  const token = requireToken(await readFeeTokens(sponsor), addressOf(params, 'fee_token'))
  const model = sponsor.settings.price
  if (model.type === 'free') return { lamports, price: 0n }
  if (model.type === 'fixed') {
    const fixed = requireToken([token], model.token)
    return { lamports, price: await readFixedPrice(sponsor, transaction, fixed) }
  }
  const price = await readPrice(sponsor, transaction, token)
  await keepQuote(sponsor, token, { lamports, price })
  return { lamports, price }
}

/** Reads when a request is answered. @throws KoraError */
export function respondAfterOf({ respond_after: wanted = 'confirmed' }: MethodCall['params']): RespondAfter {
  const respondAfter = RESPOND_AFTER.find((one) => one === wanted)
  if (respondAfter !== undefined) return respondAfter
  throw new KoraError('InvalidParams', `respond_after: expected ${RESPOND_AFTER.join(', ')}.`)
}

/** Reads a parameter that is an address. @throws KoraError */
export function addressOf(params: MethodCall['params'], name: string): string {
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
export function userOf(
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
export function toNumber(amount: bigint): number {
  if (amount > BigInt(Number.MAX_SAFE_INTEGER))
    throw new KoraError('FeeEstimationFailed', 'The fee is more than a JSON number holds exactly.')
  return Number(amount)
}
