import { getBase58Encoder } from '@solana/kit'
import { isRecord, type Rpc } from '../../shared/host.ts'
import { loadedAccounts, type TokenAccount } from '../../shared/solana-accounts.ts'
import { isSignatureOf, TOKEN_PROGRAM } from '../../shared/solana-transaction.ts'
import { Refusal, reading } from '../refusal.ts'
import type { Outcome } from '../scheme.ts'
import { checkFeePayer, type SolanaMessage } from './message.ts'
import type { SolanaPayment } from './payment.ts'
import { type Simulation, simulateBeside } from './simulate.ts'

/** What the chain says about a payment. */
export interface SolanaReadings {
  /** All accounts of the message in the order of their indexes; undefined where a table has no such entry. */
  readonly accounts: readonly (string | undefined)[]
  /**
   * The payer's account and the payee's, before and after the simulated payment; absent where none exists.
   */
  readonly before: readonly [TokenAccount | undefined, TokenAccount | undefined]
  readonly after: readonly [TokenAccount | undefined, TokenAccount | undefined]
  /** The slot as of which the balances before were read. */
  readonly slot: number
  /** Why the simulation failed; absent if it did not. */
  readonly failure: string | undefined
  /** False if no reading before was of the slot of the simulation, so that the two cannot be compared. */
  readonly isSameSlot: boolean
}

/** Reads what decides about a payment. */
export async function readSolanaChain(payment: SolanaPayment, rpc: Rpc): Promise<SolanaReadings> {
  return reading(payment.payer, async () => {
    const accounts = [...payment.accounts, ...(await loadedAccounts(payment, rpc))]
    const source = accounts[payment.transfer.accounts[0] ?? -1]
    const addresses = [source ?? payment.destination, payment.destination]
    const simulation = await simulateBeside(payment.transaction, { addresses, withCalls: false }, rpc)
    const [before, after] = [pairOf(simulation.before), pairOf(simulation.after)]
    return { ...simulation, accounts, before, after }
  })
}

function pairOf([payer, payee]: Simulation['before']): SolanaReadings['before'] {
  return [payer, payee]
}

/** Decides about a payment by what the chain says. Throws {@link Refusal} if it cannot be settled. */
export function judgeSolanaPayment(
  payment: SolanaPayment,
  { accounts, before, after, failure, isSameSlot }: SolanaReadings,
): void {
  const { payer, feePayer, mint, destination, amount, transfer } = payment
  const refuse = (reason: string, message: string) =>
    new Refusal(`invalid_exact_svm_${reason}`, message, payer)
  const failed = (message: string) => refuse('transaction_simulation_failed', message)
  checkFeePayer(payment, accounts, 'payload_transaction_fee_payer_transferring_funds')
  const [source, transferMint, target, authority] = transfer.accounts.map((index) => accounts[index])
  if (transferMint !== mint) throw refuse('payload_mint_mismatch', 'The transfer is of another token.')
  if (target !== destination)
    throw refuse(
      'payload_recipient_mismatch',
      `The transfer must go to ${destination}, the payee's associated account.`,
    )
  if (authority !== payer)
    throw refuse('payload_no_transfer_instruction', 'The transfer must be authorized by the payer.')
  if (source === target)
    throw refuse('payload_recipient_mismatch', 'The payer and the payee are the same account.')
  const [payerBefore, payeeBefore] = before
  if (!payeeBefore) throw failed(`The payee's account ${destination} does not exist.`)
  if (!payerBefore || payerBefore.amount < amount)
    throw new Refusal(
      'insufficient_funds',
      `The payer has ${payerBefore?.amount ?? 0n}, and ${amount} are needed.`,
      payer,
    )
  if (payerBefore.owner === feePayer)
    throw refuse('payload_transaction_fee_payer_transferring_funds', 'The tokens belong to the fee payer.')
  if (failure !== undefined) throw failed(`The simulated payment fails: ${failure.slice(0, 200)}`)
  if (!isSameSlot) {
    // A transfer of SPL Token moves its amount and nothing else; the other program can keep a fee.
    if (transfer.program === TOKEN_PROGRAM) return
    throw new Refusal(
      'unexpected_verify_error',
      'The balances change too fast to be compared. Ask again.',
      payer,
    )
  }
  const [payerAfter, payeeAfter] = after
  const lost = payerBefore.amount - (payerAfter?.amount ?? 0n)
  const gained = (payeeAfter?.amount ?? 0n) - payeeBefore.amount
  if (lost !== amount || gained !== amount)
    throw failed(`The payer would lose ${lost} and the payee get ${gained}, not ${amount}.`)
}

/**
 * Returns true if this is the relayer's signature of exactly this payment: then the transaction that it names
 * is this one.
 */
export function isSignedAs({ feePayer, message }: SolanaMessage, signature: string): Promise<boolean> {
  return isSignatureOf(feePayer, Uint8Array.from(getBase58Encoder().encode(signature)), message)
}

/**
 * Reads if the transaction with this signature of the payment was executed in a block that the network has
 * voted for.
 */
export async function solanaOutcome(signature: string, rpc: Rpc): Promise<Outcome> {
  const { value } = await rpc<{ value: readonly unknown[] }>('getSignatureStatuses', [
    [signature],
    { searchTransactionHistory: true },
  ])
  const [status] = value
  if (!isRecord(status) || status.confirmationStatus === 'processed') return 'unknown'
  return status.err === null ? 'paid' : 'failed'
}
