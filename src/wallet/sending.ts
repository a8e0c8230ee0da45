import type { Schemas } from '../contract/operations.ts'
import { NonceError } from '../handlers/rpc/front.ts'
import { keccak256Hex } from '../lib/hash.ts'
import { invalidParams, RPC_CODES, RpcError } from './rpc-error.ts'
import { readTransaction } from './transaction-request.ts'
import { readBytes, readFields, type WalletMethod, type WalletRequest } from './wallet-call.ts'

/** A transaction of the relayer, as its operations show it. */
export type ShownTransaction = Schemas['TransactionWithAttempts']

/** One of its attempts, on any network. */
export type ShownAttempt = ShownTransaction['attempts'][number]

/**
 * Answers `eth_sendTransaction`: it accepts a transaction as `sendTransaction` does, and answers with the
 * first hash that is signed.
 */
export const sendTransaction: WalletMethod = async (request, [transaction]) => {
  const { client, deadline } = request
  const { content, nonce } = readTransaction(request, readFields(transaction, 'transaction'))
  const terms = { ownAccount: true, nonce, signedBy: deadline } as const
  const sent = await client.call('sendTransaction', { body: content }, terms).catch((error: unknown) => {
    throw error instanceof NonceError ? nonceRefusal(request, error, nonce) : error
  })
  if (!('attempts' in sent.data)) throw new Error('a transaction that is sent has attempts')
  return firstHash(sent.data)
}

/** Tells which nonce is expected, or the transaction that has it. */
function nonceRefusal(
  { client }: WalletRequest,
  { problem }: NonceError,
  nonce: bigint | undefined,
): RpcError {
  switch (problem.kind) {
    case 'taken': {
      const { transactionId } = problem
      return new RpcError(
        RPC_CODES.transactionRejected,
        `nonce: transaction ${transactionId} was sent with nonce ${nonce} and another content; replace it with PUT …/transactions/${transactionId}`,
        { transactionId },
      )
    }
    case 'other':
      return invalidParams(
        `nonce: ${problem.next} is the next one of relayer ${client.relayer.id}, not ${nonce}. The relayer numbers its transactions, so the nonce can be left out; replace a transaction with PUT …/transactions/{transaction_id}`,
      )
    case 'unknown':
      return unknownNonce()
  }
}

/** Makes the failure for a nonce that no node tells. */
function unknownNonce(): RpcError {
  return new RpcError(
    RPC_CODES.resourceUnavailable,
    'No node of the network answers, so the next nonce is not known. Nothing was sent; try again, or leave the nonce out.',
  )
}

/**
 * Answers `eth_getTransactionCount` of the account for `pending`: the nonce that its next transaction gets. A
 * node knows only what was broadcast to it.
 */
export async function countPending({ client }: WalletRequest): Promise<string> {
  const next = await client.nextNonce()
  if (next === undefined) throw unknownNonce()
  return `0x${next.toString(16)}`
}

/** Recognises such a call. */
export function isOwnPendingCount({ method, params }: Schemas['RpcCall'], address: string): boolean {
  if (method !== 'eth_getTransactionCount' || !Array.isArray(params) || params[1] !== 'pending') return false
  return typeof params[0] === 'string' && params[0].toLowerCase() === address.toLowerCase()
}

/**
 * Answers `eth_sendRawTransaction`. The service broadcasts what it has signed for a stored transaction itself,
 * and nothing else.
 */
export const sendRawTransaction: WalletMethod = async ({ client }, [passed]) => {
  const find = client.finder('transactions:write')
  const raw = readBytes(passed, 'data')
  if (raw === undefined) throw invalidParams('data: the bytes of a signed transaction are expected')
  const hash = keccak256Hex(Buffer.from(raw.slice(2), 'hex'))
  const [known] = await find({ hashes: [hash] })
  if (known === undefined)
    throw new RpcError(
      RPC_CODES.transactionRejected,
      `data: expected bytes that relayer ${client.relayer.id} has signed for one of its transactions; send other bytes to a node yourself.`,
    )
  const { id: transactionId, status } = known
  if (hasEnded(known) && includedAttempt(known)?.hash !== hash)
    throw new RpcError(
      RPC_CODES.transactionRejected,
      `data: these bytes belong to transaction ${transactionId}, which has ended as ${status} without them.`,
      { transactionId, status },
    )
  return hash
}

/** @throws RpcError with the id of the transaction when nothing of the request is signed */
function firstHash({ attempts, ...transaction }: ShownTransaction): string {
  const first = attempts.find((attempt) => !isNoop(attempt))
  if (first !== undefined) return first.hash
  const {
    id: transactionId,
    status,
    status_reason: statusReason,
    awaits_approval: awaitsApproval,
  } = transaction
  const data = { transactionId, status }
  const reason = statusReason === undefined ? '' : ` ${statusReason}`
  if (status === 'canceled' || attempts.length > 0)
    throw new RpcError(RPC_CODES.userRejected, `Transaction ${transactionId} is canceled.${reason}`, data)
  if (hasEnded(transaction))
    throw new RpcError(
      RPC_CODES.transactionRejected,
      `Transaction ${transactionId} has ended as ${status}.${reason}`,
      data,
    )
  const state = awaitsApproval === true ? 'waits for an approval' : 'is not signed yet'
  throw new RpcError(
    RPC_CODES.resourceUnavailable,
    `Transaction ${transactionId} is accepted and ${state}.${reason} Do not send it again; look it up by its id.`,
    data,
  )
}

/** The statuses after which nothing changes. A new status does not compile without an answer. */
const FINAL: Readonly<Record<Schemas['TransactionStatus'], boolean>> = {
  pending: false,
  sent: false,
  submitted: false,
  mined: false,
  confirmed: true,
  failed: true,
  canceled: true,
  expired: true,
}

/** Returns true if nothing changes the transaction any more. */
export function hasEnded({ status }: Pick<ShownTransaction, 'status'>): boolean {
  return FINAL[status]
}

const NOOPS: ReadonlySet<Schemas['AttemptKind']> = new Set(['cancel', 'expire', 'abandon', 'gap_filler'])

/** Returns true if the attempt was made to execute nothing of what was requested: it only uses the nonce. */
function isNoop({ kind }: Pick<ShownAttempt, 'kind'>): boolean {
  return NOOPS.has(kind)
}

/** The attempt that the chain includes; undefined while it includes none. */
export function includedAttempt({ attempts }: ShownTransaction): ShownAttempt | undefined {
  return attempts.find(({ outcome }) => outcome === 'mined' || outcome === 'reverted')
}
