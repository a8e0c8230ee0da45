import type { AccountsAt } from '../read/accounts.ts'
import type { StellarAttempt } from '../types.ts'
import type { LookupResult, Terms } from './receipts.ts'

/** Proofs that attempts were never applied. All functions here are pure. */

/** The sequence number of its account does not prove that this attempt was never applied. */
export interface OpenAttempt {
  readonly attempt: StellarAttempt
  /** `passed`: this attempt or another one used the number · `gone`: the ledger has no such account · `unread`: no endpoint told it. */
  readonly sequence: 'passed' | 'gone' | 'unread'
}

/**
 * Returns the attempts that may have been applied up to the ledger `asOf`, as far as sequence numbers tell. `accounts` has the answer of every
 * endpoint, undefined for silence: one that lies or has lost ledgers must not speak for the others. Each applied transaction raises
 * its account's sequence number to its own, also when its operations fail, and nothing ever lowers it: BumpSequence only raises it (CAP-1),
 * and an account that is merged and created again starts at the number of its ledger times 2^32, which merging keeps higher
 * (`MergeOpFrame`, ACCOUNT_MERGE_SEQNUM_TOO_FAR). So a lower number in that ledger, or a later one, proves that the attempt was not
 * applied. A missing account proves nothing: it may have been merged after the attempt. Attempts whose absence was proved before are left
 * out.
 */
export function absenceBySequence(
  attempts: readonly StellarAttempt[],
  accounts: readonly (AccountsAt | undefined)[],
  asOf: bigint | undefined,
): readonly OpenAttempt[] {
  const unproven = attempts.filter(({ outcome }) => outcome !== 'expired' && outcome !== 'superseded')
  return (unproven.length > 0 ? unproven : attempts).flatMap((attempt) => {
    const sequence = sequenceOf(attempt, accounts, asOf)
    return sequence === 'below' ? [] : [{ attempt, sequence }]
  })
}

function sequenceOf(
  { sourceAccount, nonce }: StellarAttempt,
  accounts: readonly (AccountsAt | undefined)[],
  asOf: bigint | undefined,
): OpenAttempt['sequence'] | 'below' {
  if (nonce === undefined) return 'unread'
  const told = accounts.flatMap((account) => account?.sequences.get(sourceAccount) ?? [])
  // A sequence number never falls, so the answer of a node that is behind counts, too.
  if (told.some((sequence) => sequence >= nonce)) return 'passed'
  const fresh = accounts.filter(
    (account) => account !== undefined && (asOf === undefined || account.ledger >= asOf),
  )
  if (fresh.length === 0 || fresh.length < accounts.length) return 'unread'
  return told.length === accounts.length ? 'below' : 'gone'
}

/** The reason why absence is not proved. */
export interface Doubt extends OpenAttempt {
  /** `forgotten`: every endpoint answered, and none remembers far enough back · `open`: asking again may help. */
  readonly kind: 'open' | 'forgotten'
}

/**
 * Returns undefined when the histories of the endpoints prove, in each round of questions, that no ledger contains any of the hashes: each
 * endpoint that could know them denies them, and one does. An endpoint that no longer keeps that time could not know; a silent one could (I6).
 * `rounds` contain the look-ups of every endpoint, resting ones included. Pure.
 */
export function absenceByHistory(
  rounds: readonly (readonly (readonly LookupResult[])[])[],
  open: readonly OpenAttempt[],
): Doubt | undefined {
  const unread = open.find(({ sequence }) => sequence === 'unread')
  if (unread) return { ...unread, kind: 'open' }
  const [first] = open
  if (first === undefined || rounds.every(isDenied)) return undefined
  const last = rounds.at(-1) ?? []
  return { ...first, kind: last.length > 0 && last.every(hasForgotten) ? 'forgotten' : 'open' }
}

function isDenied(endpoints: readonly (readonly LookupResult[])[]): boolean {
  return endpoints.some(denies) && endpoints.every((lookups) => denies(lookups) || hasForgotten(lookups))
}

function denies(lookups: readonly LookupResult[]): boolean {
  return lookups.every((result) => result.kind === 'not_found' && result.reached && result.remembers)
}

function hasForgotten(lookups: readonly LookupResult[]): boolean {
  return lookups.every((result) => result.kind === 'not_found' && !result.remembers)
}

/** Explains the doubt to an operator. */
export function explainDoubt(
  { attempt, sequence, kind }: Doubt,
  { asOf, since }: Pick<Terms, 'asOf' | 'since'>,
): string {
  const { sourceAccount, nonce, signed } = attempt
  if (sequence === 'unread')
    return `Not every endpoint told the sequence number of ${sourceAccount} at ledger ${asOf ?? 'latest'}, so nothing proves that ${nonce} was not used.`
  const fact =
    sequence === 'gone'
      ? `Account ${sourceAccount} is gone`
      : `Sequence number ${nonce} of ${sourceAccount} was used`
  const back = since === undefined ? '' : ` back to ${since.toISOString()}`
  if (kind === 'open')
    return `${fact}, and not every endpoint told its history${back} up to ledger ${asOf ?? 'latest'}, which would show the transaction.`
  const hash = signed.innerHash ?? signed.hash
  return `${fact}, and no endpoint keeps its history${back}. Look up transaction ${hash} in an archive of the network: if it is there, this transaction was executed; if it is not, it was not.`
}
