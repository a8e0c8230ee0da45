import { setTimeout as sleep } from 'node:timers/promises'
import type { Rpc } from '../shared/host.ts'
import { type AccountInfo, type InSlot, readAccounts, tokenAccountIn } from '../shared/solana-accounts.ts'
import { KoraError } from './errors.ts'
import { type FeeToken, readFee, readFeeTokens, readPrice, type Sponsor, wasQuoted } from './sponsor.ts'
import type { UserTransaction } from './transaction.ts'

/** Instructions of both token programs that pay: the first byte, the length of the data, accounts, and which of them receives. */
const TRANSFERS = [
  { kind: 3, bytes: 9, accounts: 3, receiver: 1 },
  { kind: 12, bytes: 10, accounts: 4, receiver: 2 },
]

/** Adds up the transfers to the receiver of a token, outside of other programs. */
export function paidIn({ decoded, accounts }: UserTransaction, { program, receiver }: FeeToken): bigint {
  return decoded.instructions.reduce((sum, { program: called, accounts: used, data }) => {
    const form = TRANSFERS.find(({ kind, bytes }) => data[0] === kind && data.length === bytes)
    // Further accounts are the signers of a multisig, or of a hook.
    if (called !== program || form === undefined || used.length !== form.accounts) return sum
    const [source, target] = [used[0], used[form.receiver]].map((index) => accounts[index ?? -1])
    if (target !== receiver || source === receiver) return sum
    return sum + Buffer.from(data).readBigUInt64LE(1)
  }, 0n)
}

/**
 * Checks that a transaction pays for its fee, and takes nothing: the payment is at least the price now, or one that was quoted, and
 * the simulated transaction leaves it with the receiver, whatever else happens in it. @throws KoraError
 */
export async function checkPayment(sponsor: Sponsor, transaction: UserTransaction): Promise<void> {
  const { rpc, settings, address } = sponsor
  const lamports = await readFee(transaction, rpc)
  if (settings.price === 'free') {
    judge(await simulate(transaction, [address], rpc), { lamports })
    return
  }
  const paid = (await readFeeTokens(sponsor))
    .map((token) => ({ token, amount: paidIn(transaction, token) }))
    .filter(({ amount }) => amount > 0n)
  if (paid.length === 0)
    throw new KoraError(
      'ValidationError',
      `The transaction pays nothing: transfer an accepted token to the associated account of ${sponsor.paymentAddress}.`,
    )
  const [best] = await Promise.all(
    paid.map((one) => priced(sponsor, transaction, { ...one, lamports })),
  ).then((all) => all.filter(({ isEnough }) => isEnough).concat(all))
  if (best === undefined) throw new Error('one payment was found')
  const { token, amount, price, isEnough } = best
  if (!isEnough)
    throw new KoraError(
      'InsufficientFunds',
      `The transaction pays ${amount} base units of ${token.mint}, and costs ${price}.`,
    )
  judge(await simulate(transaction, [address, token.receiver], rpc), { lamports, amount })
}

interface Paid {
  readonly token: FeeToken
  readonly amount: bigint
  readonly lamports: number
}

async function priced(sponsor: Sponsor, transaction: UserTransaction, { token, amount, lamports }: Paid) {
  const price = await readPrice(sponsor, transaction, token)
  const isEnough = amount >= price || (await wasQuoted(sponsor, token, { lamports, price: amount }))
  return { token, amount, price, isEnough }
}

/** Accounts before and after a simulated transaction, both as of one slot; absent where none exists. */
interface Simulated {
  readonly before: readonly (AccountInfo | null)[]
  readonly after: readonly (AccountInfo | null)[]
}

/** What a node says about a simulation. */
interface Ran {
  readonly err: unknown
  readonly accounts?: readonly (AccountInfo | null)[] | null
}

/** How often both states are read until they are of one slot, and the ms in between. In two slots, somebody else's payment could count. */
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
    if (before.slot === ran.context.slot) return { before: before.accounts, after: after ?? [] }
    await sleep(TRY_MS)
  }
  throw new KoraError('RpcError', 'The nodes do not agree on the newest slot. Try again.')
}

/** Refuses a simulation in which the relayer loses more than the fee, or gets less than the payment. Pure. */
function judge(
  { before, after }: Simulated,
  { lamports, amount = 0n }: { readonly lamports: number; readonly amount?: bigint },
): void {
  const [left, kept] = [before[0], after[0]].map((account) => BigInt(account?.lamports ?? 0))
  const taken = (left ?? 0n) - (kept ?? 0n)
  // Nodes charge the fee in a simulation, or do not.
  if (taken > BigInt(lamports))
    throw new KoraError(
      'ValidationError',
      `The fee payer would lose ${taken} lamports, and the fee is ${lamports}.`,
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
