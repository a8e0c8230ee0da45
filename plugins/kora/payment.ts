import { setTimeout as sleep } from 'node:timers/promises'
import type { Rpc } from '../shared/host.ts'
import { type AccountInfo, type InSlot, readAccounts, tokenAccountIn } from '../shared/solana-accounts.ts'
import { KoraError } from './errors.ts'
import {
  type Cost,
  type FeeToken,
  readCost,
  readFeeTokens,
  readPrice,
  requireToken,
  type Sponsor,
  wasQuoted,
} from './sponsor.ts'
import { checkExtensions, checkPriority } from './transactions/rules.ts'
import type { UserTransaction } from './transactions/transaction.ts'

/**
 * Instructions of both token programs that pay: the first byte, the length of the data, accounts, and which
 * of them receives.
 */
const TRANSFERS = [
  { kind: 3, bytes: 9, accounts: 3, receiver: 1 },
  { kind: 12, bytes: 10, accounts: 4, receiver: 2 },
]

/** What a transaction pays in one token. */
export interface Payment {
  readonly token: FeeToken
  readonly amount: bigint
  /** The account that it is taken from. */
  readonly source: string
}

/**
 * Adds up the transfers to the receiver of a token, outside of other programs. Undefined if there is none.
 * @throws KoraError for several sources
 */
export function paymentIn({ decoded, accounts }: UserTransaction, token: FeeToken): Payment | undefined {
  const transfers = decoded.instructions.flatMap(({ program: called, accounts: used, data }) => {
    const form = TRANSFERS.find(({ kind, bytes }) => data[0] === kind && data.length === bytes)
    // Further accounts are the signers of a multisig, or of a hook.
    if (called !== token.program || form === undefined || used.length !== form.accounts) return []
    const [source, target] = [used[0], used[form.receiver]].map((index) => accounts[index ?? -1])
    if (source === undefined || target !== token.receiver || source === target) return []
    return [{ source, amount: Buffer.from(data).readBigUInt64LE(1) }]
  })
  const [first] = transfers
  const amount = transfers.reduce((sum, each) => sum + each.amount, 0n)
  if (first === undefined || amount === 0n) return undefined
  if (transfers.some(({ source }) => source !== first.source))
    throw new KoraError('InvalidTransaction', 'The payment must be of one account.')
  return { token, amount, source: first.source }
}

/**
 * Finds what a transaction pays: at least the fixed price, or the price now, or one that was quoted.
 * Undefined if users pay nothing here. @throws KoraError
 */
export async function findPayment(
  sponsor: Sponsor,
  transaction: UserTransaction,
): Promise<Payment | undefined> {
  const { price } = sponsor.settings
  if (price.type === 'free') return undefined
  const accepted = await readFeeTokens(sponsor)
  const tokens = price.type === 'fixed' ? [requireToken(accepted, price.token)] : accepted
  const paid = tokens.flatMap((token) => paymentIn(transaction, token) ?? [])
  if (paid.length === 0)
    throw new KoraError(
      'InvalidTransaction',
      `The transaction pays nothing: transfer an accepted token to the associated account of ${sponsor.paymentAddress}.`,
    )
  const { fee, rent } = await readCost(transaction, sponsor.rpc)
  const lamports = fee + rent
  const priced = await Promise.all(paid.map((one) => withPrice(sponsor, transaction, { ...one, lamports })))
  const best = priced.find(({ isEnough }) => isEnough) ?? priced[0]
  if (best === undefined) throw new Error('one payment was found')
  if (best.isEnough) return best.payment
  throw new KoraError(
    'InvalidTransaction',
    `The transaction pays ${best.payment.amount} base units of ${best.payment.token.mint}, and costs ${best.price}.`,
  )
}

/**
 * Checks that a transaction takes nothing, and that the simulated transaction leaves the payment with the
 * receiver, whatever else happens in it. Returns what the payer has of the token, undefined where nothing is
 * paid, as of which slot. @throws KoraError
 */
export async function checkPayment(
  { rpc, address, settings }: Sponsor,
  transaction: UserTransaction,
  payment: Payment | undefined,
): Promise<{ readonly funds: bigint | undefined; readonly block: number }> {
  const cost = await readCost(transaction, rpc)
  checkPriority(transaction, cost.fee, settings.rules)
  await checkExtensions(transaction, settings.rules, rpc)
  if (payment === undefined) {
    const simulated = await simulate(transaction, [address], rpc)
    judge(simulated, { cost })
    return { funds: undefined, block: simulated.slot }
  }
  const { token, amount, source } = payment
  const simulated = await simulate(transaction, [address, token.receiver, source], rpc)
  judge(simulated, { cost, amount })
  const { before, slot } = simulated
  return { funds: tokenAccountIn(before[2] ?? null)?.amount ?? 0n, block: slot }
}

async function withPrice(
  sponsor: Sponsor,
  transaction: UserTransaction,
  { lamports, ...payment }: Payment & { readonly lamports: number },
) {
  const { token, amount } = payment
  const model = sponsor.settings.price
  if (model.type === 'fixed') {
    const price = await readFixedPrice(sponsor, transaction, token)
    return { payment, price, isEnough: amount >= price }
  }
  const price = await readPrice(sponsor, transaction, token)
  const isEnough = amount >= price || (await wasQuoted(sponsor, token, { lamports, price: amount }))
  return { payment, price, isEnough }
}

/** Returns the fixed price. @throws KoraError if the price is strict, and less than what the fee costs now */
export async function readFixedPrice(
  sponsor: Sponsor,
  transaction: UserTransaction,
  token: FeeToken,
): Promise<bigint> {
  const model = sponsor.settings.price
  if (model.type !== 'fixed') throw new Error('the price is not fixed')
  const cost = model.isStrict ? await readPrice(sponsor, transaction, token) : 0n
  if (cost <= model.amount) return model.amount
  throw new KoraError(
    'ValidationError',
    `The transaction costs ${cost} base units of ${token.mint}, more than the fixed price of ${model.amount}.`,
  )
}

/** Accounts before and after a simulated transaction, both as of one slot; absent where none exists. */
interface Simulated {
  readonly slot: number
  readonly before: readonly (AccountInfo | null)[]
  readonly after: readonly (AccountInfo | null)[]
}

/** What a node says about a simulation. */
interface Ran {
  readonly err: unknown
  readonly accounts?: readonly (AccountInfo | null)[] | null
}

/**
 * How often both states are read until they are of one slot, and the ms in between. In two slots, somebody
 * else's payment could count.
 */
const TRIES = 10
const TRY_MS = 20

async function simulate(
  { base64 }: UserTransaction,
  addresses: readonly string[],
  rpc: Rpc,
): Promise<Simulated> {
  const accounts = { encoding: 'base64', addresses }
  const options = { encoding: 'base64', commitment: 'confirmed', sigVerify: false, accounts }
  for (let tries = 0; tries < TRIES; tries += 1) {
    const [before, ran] = await Promise.all([
      readAccounts(addresses, rpc),
      rpc<InSlot<Ran>>('simulateTransaction', [base64, options]),
    ])
    const { err, accounts: after } = ran.value
    if (err !== null)
      throw new KoraError(
        'InvalidTransaction',
        `The simulated transaction fails: ${JSON.stringify(err).slice(0, 200)}`,
      )
    const { slot } = before
    if (slot === ran.context.slot) return { slot, before: before.accounts, after: after ?? [] }
    await sleep(TRY_MS)
  }
  throw new KoraError('RpcError', 'The nodes do not agree on the newest slot. Try again.')
}

/**
 * Refuses a simulation in which the relayer loses more than the fee and the rent of what it opens, or gets
 * less than the payment. Pure.
 */
function judge(
  { before, after }: Simulated,
  { cost, amount = 0n }: { readonly cost: Cost; readonly amount?: bigint },
): void {
  const [left, kept] = [before[0], after[0]].map((account) => BigInt(account?.lamports ?? 0))
  const taken = (left ?? 0n) - (kept ?? 0n)
  const lamports = cost.fee + cost.rent
  // Nodes charge the fee in a simulation, or do not.
  if (taken > BigInt(lamports))
    throw new KoraError(
      'ValidationError',
      `The fee payer would lose ${taken} lamports, and the transaction costs ${lamports}.`,
    )
  if (amount === 0n) return
  if (!before[1])
    throw new KoraError(
      'AccountNotFound',
      'The payment address has no account for this token; open it first.',
    )
  const [had, has] = [before[1], after[1] ?? null].map((account) => tokenAccountIn(account)?.amount ?? 0n)
  const gained = (has ?? 0n) - (had ?? 0n)
  if (gained < amount)
    throw new KoraError(
      'ValidationError',
      `The transaction transfers ${amount} base units, and leaves ${gained} of them.`,
    )
}
