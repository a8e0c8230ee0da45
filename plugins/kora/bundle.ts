import { isRecord } from '../shared/host.ts'
import { decodeTransaction } from '../shared/solana-transaction.ts'
import type { Bundles } from './config.ts'
import { KoraError } from './errors.ts'
import { recallSignature } from './exposure.ts'
import { estimate, type MethodCall, readFor, toNumber, userOf } from './params.ts'
import { checkPayment, findPayment } from './payment.ts'
import { sign } from './send.ts'
import type { Sponsor } from './sponsor.ts'
import type { Signatures, UserTransaction } from './transactions/transaction.ts'

// A block engine of Jito includes a bundle as a whole or not at all. But each signed transaction of it is valid
// by itself, and anyone who has it can send it alone. So each must pay for itself, and be fine without the others.

/** The most transactions of a bundle. */
const MAX_TRANSACTIONS = 5

/** A transaction of a bundle. */
interface Part {
  readonly base64: string
  /** The relayer signs it; the others are passed on as they are. */
  readonly isOurs: boolean
}

/** Reads the transactions of a bundle. @throws KoraError */
export function transactionsOf({
  transactions,
  sign_only_indices: only,
}: MethodCall['params']): readonly Part[] {
  if (!Array.isArray(transactions) || transactions.length === 0)
    throw new KoraError('InvalidTransaction', 'transactions: expected a list of transactions in base64.')
  const { length } = transactions
  if (length > MAX_TRANSACTIONS)
    throw new KoraError('JitoError', `transactions: a bundle has at most ${MAX_TRANSACTIONS}, not ${length}.`)
  const indices = only ?? transactions.map((_, index) => index)
  const isIndex = (one: unknown) => Number.isInteger(one) && Number(one) >= 0 && Number(one) < length
  if (!Array.isArray(indices) || indices.length === 0 || !indices.every(isIndex))
    throw new KoraError('InvalidParams', 'sign_only_indices: expected indices of transactions.')
  return transactions.map((base64: unknown, index) => {
    if (typeof base64 !== 'string' || decodeTransaction(base64) === undefined)
      throw new KoraError('InvalidTransaction', `transactions[${index}]: expected a transaction in base64.`)
    return { base64, isOurs: indices.includes(index) }
  })
}

/** A part that was read, if it is signed here. */
interface ReadPart extends Part {
  readonly transaction: UserTransaction | undefined
}

async function readParts(
  sponsor: Sponsor,
  params: MethodCall['params'],
  signatures: Signatures,
): Promise<readonly ReadPart[]> {
  const parts = await Promise.all(
    transactionsOf(params).map(async (part) => ({
      ...part,
      transaction: part.isOurs ? await readFor(sponsor, part.base64, signatures) : undefined,
    })),
  )
  const hashes = parts.flatMap(({ transaction }) => transaction?.hash ?? [])
  if (new Set(hashes).size < hashes.length)
    throw new KoraError('InvalidTransaction', 'transactions: the same transaction is in it twice.')
  return parts
}

/** Adds up what the transactions cost that are signed here. */
export async function estimateBundleFee(sponsor: Sponsor, { params }: MethodCall): Promise<object> {
  const parts = await readParts(sponsor, params, params.sig_verify === true ? 'all' : 'any')
  let lamports = 0
  let price: bigint | undefined
  for (const { transaction } of parts) {
    if (transaction === undefined) continue
    const one = await estimate(sponsor, transaction, params)
    lamports += one.lamports
    price = one.price === undefined ? undefined : (price ?? 0n) + one.price
  }
  return {
    fee_in_lamports: lamports,
    ...(price !== undefined && { fee_in_token: toNumber(price) }),
    signer_pubkey: sponsor.address,
    payment_address: sponsor.paymentAddress,
  }
}

/** Signs a bundle: all of it, or nothing where a part of it is refused. */
export async function signBundle(sponsor: Sponsor, call: MethodCall): Promise<object> {
  const needsAll = call.params.sig_verify === true || call.settings.needsSignatures
  return {
    signed_transactions: await signAll(sponsor, call, needsAll ? 'all' : 'valid'),
    signer_pubkey: sponsor.address,
  }
}

/**
 * Signs a bundle and hands it over to the block engine, which says that it has it, and not that a block will.
 * Asked again, it hands over the same bundle.
 */
export async function signAndSendBundle(sponsor: Sponsor, call: MethodCall): Promise<object> {
  const signed = await signAll(sponsor, call, 'all')
  return {
    signed_transactions: signed,
    signer_pubkey: sponsor.address,
    bundle_uuid: await sendBundle(signed, call.settings.bundles),
  }
}

/** Everything is checked before anything is signed, so a bundle with a part that is refused is not signed. */
async function signAll(
  sponsor: Sponsor,
  { params, caller }: MethodCall,
  signatures: Signatures,
): Promise<readonly string[]> {
  const parts = await readParts(sponsor, params, signatures)
  await checkAll(
    sponsor,
    parts.flatMap(({ transaction }) => transaction ?? []),
  )
  const signed: string[] = []
  for (const { base64, transaction } of parts)
    signed.push(
      transaction === undefined
        ? base64
        : await sign(sponsor, { transaction, userId: userOf(params, caller, transaction) }),
    )
  return signed
}

/**
 * Checks each by itself, and that the payers have what all of them pay. What was signed before was checked,
 * and a block may have it by now. @throws KoraError
 */
async function checkAll(sponsor: Sponsor, transactions: readonly UserTransaction[]): Promise<void> {
  const paid = new Map<string, bigint>()
  for (const transaction of transactions) {
    if ((await recallSignature(sponsor, transaction)) !== undefined) continue
    const payment = await findPayment(sponsor, transaction)
    const { funds } = await checkPayment(sponsor, transaction, payment)
    if (payment === undefined || funds === undefined) continue
    const sum = (paid.get(payment.source) ?? 0n) + payment.amount
    paid.set(payment.source, sum)
    if (sum > funds)
      throw new KoraError(
        'InsufficientFunds',
        `The transactions pay ${sum} base units of one account, which has ${funds}.`,
      )
  }
}

/** A block engine that takes longer has not answered, in ms. */
const SEND_MS = 10_000

/** The longest answer of a block engine, in characters. */
const MAX_ANSWER = 65_536

async function sendBundle(signed: readonly string[], bundles: Bundles | undefined): Promise<string> {
  const { blockEngineUrlEnv: env = '' } = bundles ?? {}
  const base = process.env[env]
  if (!base) throw new KoraError('ConfigError', `The variable ${env} is empty.`)
  const answer = await post(`${base.replace(/\/+$/, '')}/api/v1/bundles`, {
    jsonrpc: '2.0',
    id: 1,
    method: 'sendBundle',
    params: [signed, { encoding: 'base64' }],
  })
  const { result, error } = isRecord(answer) ? answer : {}
  if (typeof result === 'string' && /^[!-~]{1,128}$/.test(result)) return result
  const told = isRecord(error) && typeof error.message === 'string' ? error.message.slice(0, 200) : ''
  throw notTaken(told === '' ? 'The block engine did not answer.' : `The block engine says: ${told}`)
}

async function post(url: string, request: object): Promise<unknown> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
      redirect: 'error',
      signal: AbortSignal.timeout(SEND_MS),
    })
    const text = await response.text()
    return text.length <= MAX_ANSWER ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}

/** Silence says nothing about the bundle, and the parts are signed. */
function notTaken(why: string): KoraError {
  return new KoraError(
    'JitoError',
    `${why} The transactions are signed, and may still be included until their blockhashes expire. Ask again: it is the same bundle.`,
  )
}
