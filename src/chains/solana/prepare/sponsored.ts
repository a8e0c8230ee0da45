import { createHash } from 'node:crypto'
import type { Answer } from '../../answer.ts'
import type {
  SponsoredBuild,
  SponsoredContent,
  Sponsoring,
  SponsoringPlan,
  TokenTransfer,
} from '../../capabilities.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import { type FeePayment, isPaidByUsers } from '../../sponsoring.ts'
import { readWire } from '../check.ts'
import type { SolanaPolicies, SolanaRequest } from '../content.ts'
import { rentIn } from '../effects/token-rent.ts'
import { checkLimits } from '../policies.ts'
import { readAccounts } from '../read/accounts.ts'
import { readOraclePrice } from '../read/price-account.ts'
import { associatedAccount, readMint, readTokenBalance } from '../read/tokens.ts'
import { composeMessage } from '../request-content.ts'
import type { SolanaAccount } from '../types.ts'
import { type AddedInstruction, withPayer } from '../wire/add-instruction.ts'
import { accountsOf, isAddress } from '../wire/addresses.ts'
import {
  isMultiSigner,
  MAX_TRANSACTION_BYTES,
  type Message,
  openTransaction,
  transactionSize,
  type WireTransaction,
  writeUnsigned,
} from '../wire/message.ts'
import { nonceAccountOf } from '../wire/system-instruction.ts'
import type { PrepareContext } from './context.ts'
import { guardedSimulation } from './guarded-simulation.ts'
import { openCase, prepareOwn } from './prepare.ts'

const DECIMALS = 9

/** Creates the payments in SPL tokens. */
export function createSponsoring(context: PrepareContext): Sponsoring<SolanaRequest, SolanaPolicies> {
  const { client } = context
  return {
    decimals: DECIMALS,
    tokenProblem: (token) =>
      isAddress(token) ? undefined : 'the mint of a token is expected, 32 bytes in base58',
    plan: (content, token, account) => plan(context, content, { token, account }),
    tokenDecimals: async (token) => {
      const mint = await readMint(client, token)
      return mint.kind === 'ok' ? { kind: 'ok', value: mint.value.decimals } : mint
    },
    tokenBalance: (token, address) => readTokenBalance(client, token, address),
    oraclePrice: (source) => readOraclePrice(client, source),
    blockAge: (slot) => slotAge(client, slot),
    hashOf: ({ transaction }) => {
      const wire = transaction === undefined ? undefined : readWire(transaction)
      return wire === undefined || typeof wire === 'string' || !isMultiSigner(wire.message)
        ? undefined
        : hashOf(wire)
    },
    transferOf: (transfer) => composeTransfer(context, transfer),
    withPayment: (request, payment) => ({ kind: 'ok', value: { ...request, payment } }),
  }
}

/** The length of a slot, in ms, and the most slots by which endpoints may be behind a source of prices. */
const SLOT_MS = 400
const MOST_BEHIND = 300n

function slotAge(client: PooledClient, slot: bigint): Answer<number> {
  const heads = client.states().flatMap(({ head }) => head ?? [])
  const head = heads.reduce<bigint | undefined>(
    (newest, one) => (newest === undefined || one > newest ? one : newest),
    undefined,
  )
  if (head === undefined || slot > head + MOST_BEHIND)
    return { kind: 'unknown', detail: `no endpoint has reached slot ${slot}` }
  return { kind: 'ok', value: slot > head ? 0 : Number(head - slot) * SLOT_MS }
}

/** The hash is that of the message, so it does not depend on the signatures. */
function hashOf({ messageBytes }: Pick<WireTransaction, 'messageBytes'>): string {
  return createHash('sha256').update(messageBytes).digest('hex')
}

interface Wanted {
  readonly token: string
  readonly account: SolanaAccount
}

/** A payment is simulated with the smallest amount; its size and cost do not depend on the amount. */
const SMALLEST = 1n

async function plan(
  context: PrepareContext,
  content: SponsoredContent,
  { token, account }: Wanted,
): Promise<Answer<SponsoringPlan>> {
  if (content.type !== 'solana') throw new Error('this is content of another chain')
  const read = readContent(content.transaction, account.address)
  if (typeof read === 'string') return invalid(read)
  const { message, payer } = read
  const transfer = isPaidByUsers(account.policies)
    ? await findTransfer(context, { token, payer, account })
    : NO_TRANSFER
  if (transfer.kind !== 'ok') return transfer
  const sponsored = withPayer(
    message,
    account.address,
    transfer.value === undefined ? [] : [transfer.value.instructionOf(SMALLEST)],
  )
  if (sponsored === undefined || transactionSize(sponsored) > MAX_TRANSACTION_BYTES)
    return invalid('transaction: it has no room for another fee payer and the payment.')
  const trial: SolanaRequest = { type: 'solana', transaction: writeUnsigned(sponsored), speed: 'fast' }
  const opened = await openCase(context, trial, account)
  if (opened.kind !== 'ok') return opened
  const prepared = await prepareOwn(context, opened.value)
  if (prepared.kind !== 'ok') return prepared
  const { transaction, expiresAt = 1n } = prepared.value.draft
  // Rent that the relayer pays for others is a part of what it wants back.
  const fee = prepared.value.draft.fee + rentIn(opened.value.subject, account.policies)
  const finished = { transfer: transfer.value, lastBlockHeight: expiresAt - 1n, fee, payer }
  return {
    kind: 'ok',
    value: {
      payer,
      fee,
      hasMost: false,
      build: (charge) => build(context, transaction, { ...finished, account, amount: charge?.amount, token }),
    },
  }
}

/** Returns the message and the user who pays; a sentence for a transaction that cannot be sponsored. */
function readContent(
  base64: string,
  self: string,
): { readonly message: Message; readonly payer: string } | string {
  const wire = readWire(base64)
  if (typeof wire === 'string') return wire
  const { message } = wire
  const payer = message.staticAccounts.slice(0, message.header.numSignerAccounts).find((one) => one !== self)
  if (payer === undefined) return 'transaction: a transaction that a user signs is expected.'
  if (nonceAccountOf(message, accountsOf(message)) !== undefined)
    return 'transaction: a recent blockhash is expected, because a durable nonce never expires.'
  const problem = checkLimits(message)
  return problem === undefined ? { message, payer } : `transaction: ${problem}`
}

/** The transfer that pays. */
interface Transfer {
  /** The relayer's token account. */
  readonly receiver: string
  readonly instructionOf: (amount: bigint) => AddedInstruction
}

const NO_TRANSFER: Answer<undefined> = { kind: 'ok', value: undefined }

/** Refuses if the relayer has no account for the token: the rent of a new one would be the relayer's. */
async function findTransfer(
  { client }: PrepareContext,
  { token, payer, account }: Wanted & { readonly payer: string },
): Promise<Answer<Transfer>> {
  const mint = await readMint(client, token)
  if (mint.kind !== 'ok') return mint
  const { program, decimals } = mint.value
  const [source, receiver] = await Promise.all([
    associatedAccount(payer, token, program),
    associatedAccount(account.address, token, program),
  ])
  const states = await readAccounts(client, [source, receiver])
  if (states.kind !== 'ok') return states
  if (states.value.accounts[1] === undefined)
    return {
      kind: 'refused',
      refusal: {
        code: 'account_not_found',
        detail: `fee_token: the relayer has no account for this token; open ${receiver} with the associated token program.`,
      },
    }
  if (states.value.accounts[0] === undefined)
    return {
      kind: 'refused',
      refusal: { code: 'insufficient_balance', detail: `fee_token: ${payer} has no tokens of ${token}.` },
    }
  return {
    kind: 'ok',
    value: {
      receiver,
      instructionOf: (amount) => ({
        program,
        accounts: [
          { address: source, signer: false, writable: true },
          { address: token, signer: false, writable: false },
          { address: receiver, signer: false, writable: true },
          { address: payer, signer: true, writable: false },
        ],
        data: transferData(amount, decimals),
      }),
    },
  }
}

/**
 * The user is the fee payer until the relayer takes its place. The account of the receiver must exist: its
 * rent would be the relayer's.
 */
async function composeTransfer(
  { client }: PrepareContext,
  { token, source, destination, amount }: TokenTransfer,
): Promise<Answer<SponsoredContent>> {
  const names = { token, source, destination }
  const wrong = Object.entries(names).find(([, address]) => !isAddress(address))
  if (wrong !== undefined) return invalid(`${wrong[0]}: 32 bytes in base58 are expected.`)
  if (amount < 1n || amount > MAX_U64) return invalid(`amount: an amount from 1 to ${MAX_U64} is expected.`)
  const mint = await readMint(client, token)
  if (mint.kind !== 'ok') return mint
  const { program, decimals } = mint.value
  const [from, to] = await Promise.all([
    associatedAccount(source, token, program),
    associatedAccount(destination, token, program),
  ])
  const message = composeMessage(source, [
    {
      programId: program,
      accounts: [
        { pubkey: from, isSigner: false, isWritable: true },
        { pubkey: token, isSigner: false, isWritable: false },
        { pubkey: to, isSigner: false, isWritable: true },
        { pubkey: source, isSigner: true, isWritable: false },
      ],
      data: Buffer.from(transferData(amount, decimals)).toString('base64'),
    },
  ])
  return { kind: 'ok', value: { type: 'solana', transaction: writeUnsigned(message) } }
}

/** `TokenInstruction::TransferChecked`. */
function transferData(amount: bigint, decimals: number): Uint8Array {
  const data = Buffer.alloc(10)
  data.writeUInt8(12, 0)
  data.writeBigUInt64LE(amount, 1)
  data.writeUInt8(decimals, 9)
  return Uint8Array.from(data)
}

interface Planned extends Wanted {
  readonly transfer: Transfer | undefined
  readonly amount: bigint | undefined
  readonly lastBlockHeight: bigint
  readonly fee: bigint
  readonly payer: string
}

/** The largest amount of an SPL token. */
const MAX_U64 = 2n ** 64n - 1n

/** Puts the amount into the planned transaction, and simulates it under the rules of sending it. */
async function build(
  context: PrepareContext,
  planned: string,
  { transfer, amount, account, lastBlockHeight, fee, payer, token }: Planned,
): Promise<Answer<SponsoredBuild>> {
  if (amount !== undefined && amount > MAX_U64)
    return invalid('fee_token: the fee is more than the token has.')
  const { message } = openTransaction(planned)
  const paying = transfer && amount !== undefined ? transfer.instructionOf(amount) : undefined
  const placeholder = Buffer.from(transfer?.instructionOf(SMALLEST).data ?? [])
  const at = message.instructions.findLastIndex(({ data = [] }) => placeholder.equals(Buffer.from(data)))
  const instructions = message.instructions.map((one, index) =>
    paying !== undefined && index === at ? { ...one, data: paying.data } : one,
  )
  const transaction = writeUnsigned({ ...message, instructions })
  const receiver = transfer?.receiver ?? account.address
  const payment: FeePayment | undefined =
    amount === undefined
      ? undefined
      : { quoteId: '', token, amount, payer, receiver, fee, validUntil: new Date() }
  const request: SolanaRequest = { type: 'solana', transaction, speed: 'fast', ...(payment && { payment }) }
  const opened = await openCase(context, request, account)
  if (opened.kind !== 'ok') return opened
  const outcome = await guardedSimulation(context, opened.value, opened.value.subject.message)
  if (outcome.kind !== 'ok') return outcome
  return {
    kind: 'ok',
    value: { transaction, hash: hashOf(openTransaction(transaction)), receiver, lastBlockHeight },
  }
}

function invalid(detail: string): Answer<never> {
  return { kind: 'refused', refusal: { code: 'invalid_request', detail } }
}
