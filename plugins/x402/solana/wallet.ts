import { getBase58Encoder } from '@solana/kit'
import { isRecord, type Rpc } from '../../shared/host.ts'
import {
  loadedAccounts,
  readAccounts,
  type TokenAccount,
  tokenAccountIn,
} from '../../shared/solana-accounts.ts'
import {
  associatedAddress,
  COMPUTE_BUDGET_PROGRAM,
  type Instruction,
  TOKEN_PROGRAMS,
} from '../../shared/solana-transaction.ts'
import { Refusal, reading } from '../refusal.ts'
import {
  budgetValue,
  checkFeePayer,
  checkMemo,
  LIGHTHOUSE_PROGRAM,
  MEMO_PROGRAM,
  refusal,
  type SolanaBounds,
  type SolanaMessage,
} from './message.ts'
import { type Simulation, simulateBeside } from './simulate.ts'

// Payments of smart wallets: a program holds the tokens, and transfers them when its owner has signed. What
// its instruction does is not written in it, so the simulation says what it would do, and the block what it
// did.

/** A payment by a smart wallet. */
export interface WalletPayment extends SolanaMessage {
  /** Where the tokens may go: the payee's associated account under either token program. */
  readonly receivers: readonly string[]
}

/** What the operator allows of smart wallets. */
export interface WalletBounds extends SolanaBounds {
  /** The programs that may pay; none if empty. */
  readonly walletPrograms: ReadonlySet<string>
}

/** What the specification names: micro-lamports per compute unit. */
const MAX_WALLET_UNIT_PRICE = 50_000n

/** What an instruction may use if the transaction sets no limit (agave compute-budget). */
const DEFAULT_UNITS = 200_000

/** More would not fit beside signatures and accounts; each that is named is looked at. */
const MAX_INSTRUCTIONS = 16

/**
 * Checks the form of a payment by a smart wallet: instructions of listed wallets, and what protects and names
 * it.
 * @throws Refusal if it has another one
 */
export function checkWalletForm(
  instructions: readonly Instruction[],
  { payer, memo, ...bounds }: WalletBounds & { readonly payer: string; readonly memo: unknown },
): void {
  const refuse = (reason: string, message: string) => refusal(`smart_wallet_${reason}`, message, payer)
  if (instructions.length > MAX_INSTRUCTIONS)
    throw refusal(
      'payload_transaction_instructions_length',
      `At most ${MAX_INSTRUCTIONS} instructions are expected.`,
      payer,
    )
  const isBudget = ({ program }: Instruction) => program === COMPUTE_BUDGET_PROGRAM
  const others = instructions.filter((each) => !isBudget(each))
  checkBudget(
    instructions.filter(isBudget).map(({ data }) => data),
    { ...bounds, count: others.length, refuse },
  )
  const { walletPrograms } = bounds
  const unknown = others.find(
    ({ program }) =>
      program !== MEMO_PROGRAM && program !== LIGHTHOUSE_PROGRAM && !walletPrograms.has(program),
  )
  if (unknown !== undefined)
    throw refuse(
      'program_not_allowed',
      `The program ${unknown.program} is not one of the wallets that pay here.`,
    )
  checkMemo(others, { memo, payer })
}

function checkBudget(
  budget: readonly Uint8Array[],
  {
    maxUnits,
    maxUnitPrice,
    count,
    refuse,
  }: SolanaBounds & { readonly count: number; refuse(reason: string, message: string): Refusal },
): void {
  // The network refuses a transaction that sets one of them twice.
  let units: bigint | undefined
  for (const data of budget) {
    const [type] = data
    if (type === 2) {
      units = budgetValue(data, 2, 5)
      if (units === undefined) throw refuse('malformed_compute_limit', 'The compute limit has another form.')
    } else if (type === 3) {
      const price = budgetValue(data, 3, 9)
      if (price === undefined) throw refuse('malformed_compute_price', 'The compute price has another form.')
      const most = maxUnitPrice < MAX_WALLET_UNIT_PRICE ? maxUnitPrice : MAX_WALLET_UNIT_PRICE
      if (price > most)
        throw refuse('priority_fee_too_high', `At most ${most} micro-lamports per unit are paid.`)
    } else if (type === undefined) throw refuse('malformed_compute_budget', 'An instruction is empty.')
    else
      throw refuse(
        'unsupported_compute_budget_instruction',
        'Of the compute budget, only limit and price are expected.',
      )
  }
  const used = units ?? BigInt(DEFAULT_UNITS * count)
  if (used > BigInt(maxUnits))
    throw refuse('compute_units_too_high', `At most ${maxUnits} compute units are paid for, not ${used}.`)
}

/** Returns the payee's associated accounts under both token programs. */
export function receiversOf(payTo: string, mint: string): Promise<string[]> {
  return Promise.all([...TOKEN_PROGRAMS].map((program) => associatedAddress(payTo, mint, program)))
}

/** What the chain says about a payment by a smart wallet. */
export interface WalletReadings extends Simulation {
  /** The account that is paid, the only one of which balances were read. */
  readonly receiver: string
  /** What the wallet would transfer, in its order. */
  readonly transfers: readonly TokenTransfer[]
  /** The account from which the payment would come; absent if no transfer is one. */
  readonly source: TokenAccount | undefined
}

/** A transfer of tokens that a program makes. */
export interface TokenTransfer {
  readonly source: string
  readonly mint: string
  readonly destination: string
  readonly authority: string
  readonly amount: bigint
}

/**
 * Reads what decides about a payment by a smart wallet. @throws Refusal if its accounts are not as they must
 * be
 */
export async function readWalletChain(payment: WalletPayment, rpc: Rpc): Promise<WalletReadings> {
  const { payer, transaction, receivers } = payment
  return reading(payer, async () => {
    const accounts = [...payment.accounts, ...(await loadedAccounts(payment, rpc))]
    checkFeePayer(payment, accounts, 'smart_wallet_fee_payer_not_isolated')
    const [receiver, ...more] = receivers.filter((each) => accounts.includes(each))
    if (receiver === undefined || more.length > 0)
      throw refusal(
        'smart_wallet_transfer_mismatch',
        'Exactly one of the payee’s associated accounts must be named.',
        payer,
      )
    const simulation = await simulateBeside(transaction, { addresses: [receiver], withCalls: true }, rpc)
    const transfers = transfersIn(simulation.calls, accounts)
    const paying = transfers.find((each) => pays(each, payment, receiver))
    const [source] = paying ? (await readAccounts([paying.source], rpc)).accounts : []
    return { ...simulation, receiver, transfers, source: source ? tokenAccountIn(source) : undefined }
  })
}

function pays(
  { mint, destination, amount }: TokenTransfer,
  payment: WalletPayment,
  receiver: string,
): boolean {
  return mint === payment.mint && destination === receiver && amount >= payment.amount
}

/**
 * Decides about a payment by a smart wallet by what the chain says.
 * @throws Refusal if it cannot be settled
 */
export function judgeWalletPayment(payment: WalletPayment, readings: WalletReadings): void {
  const { payer, feePayer, amount } = payment
  const { before, after, failure, isSameSlot, calls, transfers, receiver, source } = readings
  const refuse = (reason: string, message: string) => refusal(`smart_wallet_${reason}`, message, payer)
  const failed = (message: string) => refuse('simulation_failed', message)
  const [payeeBefore] = before
  if (!payeeBefore) throw failed(`The payee's account ${receiver} does not exist.`)
  if (failure !== undefined) throw failed(`The simulated payment fails: ${failure.slice(0, 200)}`)
  if (!Array.isArray(calls)) throw failed('The node does not tell what the wallet calls.')
  if (transfers.some(({ authority }) => authority === feePayer) || source?.owner === feePayer)
    throw refusal(
      'payload_transaction_fee_payer_transferring_funds',
      'The tokens belong to the fee payer.',
      payer,
    )
  if (transfers.length === 0) throw refuse('no_transfer_in_simulation', 'The wallet transfers nothing.')
  const matching = transfers.filter((each) => pays(each, payment, receiver))
  if (matching.length > 1)
    throw refuse('multiple_matching_transfers', `${matching.length} transfers pay the payee.`)
  const [transfer] = matching
  if (transfer === undefined || transfer.source === transfer.destination)
    throw refuse('transfer_mismatch', `No transfer pays ${amount} to ${receiver}.`)
  if (!isSameSlot)
    throw new Refusal(
      'unexpected_verify_error',
      'The balances change too fast to be compared. Ask again.',
      payer,
    )
  const gained = (after[0]?.amount ?? 0n) - payeeBefore.amount
  if (gained < amount) throw refuse('transfer_mismatch', `The payee would get ${gained}, not ${amount}.`)
}

/** TransferChecked: its number, and its length without the decimals. */
const TRANSFER_CHECKED = { type: 12, bytes: 9 }

/** Longer data, in base58, is no transfer; to decode it takes time that grows with its square. */
const MAX_DATA_CHARACTERS = 200

/** Reads the transfers that programs make, in each of the forms in which nodes tell of calls. */
export function transfersIn(told: unknown, accounts: readonly (string | undefined)[]): TokenTransfer[] {
  const groups: readonly unknown[] = Array.isArray(told) ? told : []
  const addressOf = (of: unknown) => (typeof of === 'number' ? accounts[of] : of)
  return groups.flatMap((group) => {
    const calls = isRecord(group) && Array.isArray(group.instructions) ? group.instructions : []
    return calls.filter(isRecord).flatMap((call) => {
      const program = call.programId ?? addressOf(call.programIdIndex)
      if (typeof program !== 'string' || !TOKEN_PROGRAMS.has(program)) return []
      const found = isRecord(call.parsed) ? parsedTransfer(call.parsed) : writtenTransfer(call, addressOf)
      return found ? [found] : []
    })
  })
}

function parsedTransfer({ type, info }: Readonly<Record<string, unknown>>): TokenTransfer | undefined {
  if (type !== 'transferChecked' || !isRecord(info) || !isRecord(info.tokenAmount)) return undefined
  const { source, mint, destination, authority = info.multisigAuthority } = info
  return transferOf([source, mint, destination, authority], info.tokenAmount.amount)
}

function writtenTransfer(
  { accounts, data }: Readonly<Record<string, unknown>>,
  addressOf: (of: unknown) => unknown,
): TokenTransfer | undefined {
  if (!Array.isArray(accounts) || typeof data !== 'string' || data.length > MAX_DATA_CHARACTERS)
    return undefined
  const bytes = bytesIn(data)
  if (bytes.length < TRANSFER_CHECKED.bytes || bytes[0] !== TRANSFER_CHECKED.type) return undefined
  return transferOf(accounts.slice(0, 4).map(addressOf), bytes.readBigUInt64LE(1).toString())
}

function bytesIn(base58: string): Buffer {
  try {
    return Buffer.from(getBase58Encoder().encode(base58))
  } catch {
    return Buffer.alloc(0)
  }
}

function transferOf(accounts: readonly unknown[], amount: unknown): TokenTransfer | undefined {
  const [source, mint, destination, authority] = accounts
  if (typeof source !== 'string' || typeof mint !== 'string') return undefined
  if (typeof destination !== 'string' || typeof authority !== 'string') return undefined
  if (typeof amount !== 'string' || !/^\d{1,20}$/.test(amount)) return undefined
  return { source, mint, destination, authority, amount: BigInt(amount) }
}

/**
 * What a block must show of a payment: one of the accounts has so much more of the token after the
 * transaction than before it.
 */
export type Proof = Pick<WalletPayment, 'mint' | 'amount' | 'receivers'>

/**
 * Reads if a transaction that the network has voted for has paid. A wallet's transaction may succeed and pay
 * nothing.
 */
export async function walletOutcome(
  signature: string,
  proof: Proof,
  rpc: Rpc,
): Promise<'paid' | 'failed' | 'unknown'> {
  const options = { encoding: 'json', commitment: 'confirmed', maxSupportedTransactionVersion: 0 }
  const told = await rpc<unknown>('getTransaction', [signature, options])
  if (!isRecord(told) || !isRecord(told.meta) || !isRecord(told.transaction)) return 'unknown'
  const { meta, transaction } = told
  const { signatures, message } = transaction
  if (!Array.isArray(signatures) || signatures[0] !== signature || !isRecord(message)) return 'unknown'
  if (meta.err !== null) return meta.err === undefined ? 'unknown' : 'failed'
  const { writable, readonly } = isRecord(meta.loadedAddresses) ? meta.loadedAddresses : {}
  const accounts = [message.accountKeys, writable, readonly].flatMap((each) =>
    Array.isArray(each) ? each : [],
  )
  const [before, after] = [meta.preTokenBalances, meta.postTokenBalances]
  if (!Array.isArray(before) || !Array.isArray(after)) return 'unknown'
  const gains = proof.receivers.map((receiver) => {
    const at = accounts.indexOf(receiver)
    return at < 0 ? 0n : amountIn(after, at, proof.mint) - amountIn(before, at, proof.mint)
  })
  return gains.some((gained) => gained >= proof.amount) ? 'paid' : 'failed'
}

/** The amount of a token in a list of balances; 0 where an account is not in it. */
function amountIn(balances: readonly unknown[], at: number, mint: string): bigint {
  const found = balances.filter(isRecord).find((each) => each.accountIndex === at && each.mint === mint)
  const amount = isRecord(found?.uiTokenAmount) ? found.uiTokenAmount.amount : undefined
  return typeof amount === 'string' && /^\d{1,20}$/.test(amount) ? BigInt(amount) : 0n
}
