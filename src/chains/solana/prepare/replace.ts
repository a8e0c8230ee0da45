import type { Answer } from '../../answer.ts'
import type { AfterExpiry } from '../../attempt.ts'
import type { SolanaDraft, SolanaInstruction, SolanaRequest } from '../content.ts'
import { type NonceState, requireNonce } from '../read/accounts.ts'
import { contentOf, isNoop } from '../request-content.ts'
import type { SolanaAccount, SolanaAttempt, SolanaPrepared } from '../types.ts'
import { accountsOf, RECENT_BLOCKHASHES_SYSVAR, SYSTEM_PROGRAM } from '../wire/addresses.ts'
import { openTransaction } from '../wire/message.ts'
import { nonceAccountOf } from '../wire/system-instruction.ts'
import type { PrepareContext } from './context.ts'
import { prepareDraft } from './prepare.ts'

interface Replacement {
  readonly request: SolanaRequest
  readonly attempts: readonly SolanaAttempt[]
  readonly account: SolanaAccount
}

/**
 * Prepares a draft in place of attempts that may still be included. Transactions of an account do not exclude
 * each other, so the new one waits until the earlier ones have expired. Transactions with the same durable
 * nonce do exclude each other, because the first one that is included advances it.
 */
export async function prepareReplacement(
  context: PrepareContext,
  { request, attempts, account }: Replacement,
): Promise<Answer<SolanaPrepared> | AfterExpiry> {
  const open = attempts.filter(({ outcome }) => outcome === 'signed' || outcome === 'broadcast')
  if (open.length === 0) return prepareDraft(context, request, account)
  const [first] = open
  const nonceAccount = first?.draft.nonceAccount
  if (first !== undefined && nonceAccount !== undefined) {
    return replaceDurable(context, { request, account, earlier: first, nonceAccount })
  }
  // The caller learns immediately if it could not be sent now either; silent nodes do not matter yet, and a
  // cancellation sends nothing.
  const trial = isNoop(request) ? undefined : await prepareDraft(context, request, account)
  if (trial?.kind === 'refused') return trial
  return {
    kind: 'after_expiry',
    detail: isNoop(request)
      ? 'The signed version may still be included until its blockhash has expired, which takes about a minute; the service no longer broadcasts it.'
      : 'Both versions could be included, so the new one is sent when the blockhash of the earlier one has expired, which takes about a minute, and the chain has proved that it was not included.',
  }
}

interface DurableReplacement {
  readonly request: SolanaRequest
  readonly account: SolanaAccount
  readonly earlier: SolanaAttempt
  readonly nonceAccount: string
}

async function replaceDurable(
  context: PrepareContext,
  { request, account, earlier, nonceAccount }: DurableReplacement,
): Promise<Answer<SolanaPrepared>> {
  const nonce = await requireNonce(context, nonceAccount)
  if (nonce.kind !== 'ok') return nonce
  const value = nonceIn(earlier.draft)
  if (nonce.value.value !== value) return MOVED_ON
  const content = withNonce(request, { nonceAccount, nonce: nonce.value, self: account.address })
  if (typeof content === 'string')
    return { kind: 'refused', refusal: { code: 'not_supported', detail: content } }
  const prepared = await prepareDraft(context, content, account)
  // The preparation read the nonce again: with the next value the draft would not exclude the earlier one,
  // which uses this value.
  return prepared.kind === 'ok' && nonceIn(prepared.value.draft) !== value ? MOVED_ON : prepared
}

const MOVED_ON: Answer<never> = {
  kind: 'unknown',
  detail: 'the durable nonce was advanced; the service is finding out which transaction advanced it',
}

/** Returns the value of the durable nonce that the draft uses up. */
function nonceIn({ transaction }: SolanaDraft): string {
  return openTransaction(transaction).message.lifetimeToken
}

/** Returns the request that advances the same nonce first, or the reason why that is impossible. */
function withNonce(
  request: SolanaRequest,
  { nonceAccount, nonce, self }: { nonceAccount: string; nonce: NonceState; self: string },
): SolanaRequest | string {
  const { message } = contentOf(request, self)
  if (nonceAccountOf(message, accountsOf(message)) === nonceAccount) return request
  if (request.transaction !== undefined)
    return `transaction: it must advance the nonce account ${nonceAccount} first, like the one that it replaces.`
  if (nonce.authority !== self)
    return `Its durable nonce belongs to ${nonce.authority}; only a transaction that advances ${nonceAccount} and is signed by that account can take its place.`
  return { ...request, instructions: [advance(nonceAccount, self), ...(request.instructions ?? [])] }
}

/** `SystemInstruction::AdvanceNonceAccount`. */
function advance(nonceAccount: string, authority: string): SolanaInstruction {
  return {
    programId: SYSTEM_PROGRAM,
    accounts: [
      { pubkey: nonceAccount, isSigner: false, isWritable: true },
      { pubkey: RECENT_BLOCKHASHES_SYSVAR, isSigner: false, isWritable: false },
      { pubkey: authority, isSigner: true, isWritable: false },
    ],
    data: Buffer.from([4, 0, 0, 0]).toString('base64'),
  }
}
