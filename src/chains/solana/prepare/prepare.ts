import { omitUndefined } from '../../../lib/omit-undefined.ts'
import type { Answer, Refusal } from '../../answer.ts'
import { checkPolicies, type PolicySubject } from '../check/policies.ts'
import type { SolanaRequest } from '../content.ts'
import { contentOf } from '../request-content.ts'
import type { SolanaAccount, SolanaPrepared } from '../types.ts'
import { accountsOf } from '../wire/accounts.ts'
import { loadAddresses } from '../wire/lookups.ts'
import { isMultiSigner } from '../wire/message.ts'
import { nonceAccountOf } from '../wire/system-instruction.ts'
import { checkFeePayer, maySpend } from './fee-payer.ts'
import type { Case, PrepareContext } from './prepare-context.ts'
import { prepareExternallySigned } from './prepare-externally-signed.ts'
import { prepareOwn } from './prepare-own.ts'

/**
 * Prepares the content of a new transaction: it reads the tables, checks the rules of the relayer, simulates, sets the price, and adds a
 * blockhash. A transaction that others have signed stays unchanged.
 */
export async function prepareDraft(
  context: PrepareContext,
  request: SolanaRequest,
  account: SolanaAccount,
): Promise<Answer<SolanaPrepared>> {
  const answer = await openCase(context, request, account)
  if (answer.kind !== 'ok') return answer
  return isMultiSigner(answer.value.subject.message)
    ? prepareExternallySigned(context, answer.value)
    : prepareOwn(context, answer.value)
}

/** Prepares a transaction that the caller will send: nothing is added to it. */
export async function prepareAsItIs(
  context: PrepareContext,
  request: SolanaRequest,
  account: SolanaAccount,
): Promise<Answer<SolanaPrepared>> {
  const answer = await openCase(context, request, account)
  return answer.kind === 'ok' ? prepareExternallySigned(context, answer.value) : answer
}

/** An account may occur in a transaction once, wherever it comes from (agave `accounts-db/src/account_locks.rs`). */
function checkTwice({ accounts, at }: PolicySubject): Refusal | undefined {
  const names = accounts.map(({ address }) => address)
  const twice = names.find((address, index) => names.indexOf(address) < index)
  return twice === undefined
    ? undefined
    : {
        code: 'invalid_request',
        detail: `${at}: account ${twice} occurs twice, in the message or in its tables.`,
      }
}

/** Reads the tables and checks everything again, because rules may have changed since the request was accepted. */
async function openCase(
  context: PrepareContext,
  request: SolanaRequest,
  { address: self, policies }: SolanaAccount,
): Promise<Answer<Case>> {
  const { message, at } = contentOf(request, self)
  const loaded = await loadAddresses(context, message)
  if (loaded.kind !== 'ok') return loaded
  const accounts = accountsOf(message, loaded.value)
  const subject = { message, accounts, self, at }
  const refusal = checkTwice(subject) ?? checkPolicies(subject, policies) ?? checkFeePayer(subject, policies)
  if (refusal !== undefined) return { kind: 'refused', refusal }
  const nonceAccount = nonceAccountOf(message, accounts)
  return {
    kind: 'ok',
    value: omitUndefined({ subject, request, policies, spends: maySpend(message, policies), nonceAccount }),
  }
}
