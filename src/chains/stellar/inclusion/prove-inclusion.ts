import { omitUndefined } from '../../../lib/object.ts'
import type { Freshness, InclusionProof } from '../../answer.ts'
import { includedAttempt } from '../../chain.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import { type AccountsAt, entriesCall, readAccountsAt } from '../read/accounts.ts'
import type { StellarAttempt } from '../types.ts'
import { hashesOf, type LookupResult, readLookup, receiptCall, type Terms } from './receipts.ts'

/**
 * Proves whether the ledgers up to `asOf` include any attempt of one transaction.
 *
 * Every endpoint is queried, and any endpoint that knows one of the hashes proves inclusion. Absence has two proofs:
 *
 * 1. By sequence number: every endpoint has reached `asOf` and reports an account whose sequence number is below that of the attempt. Each
 * applied transaction raises the number to its own, so the attempt was not applied.
 * 2. By history, when the number was passed or the account is gone: every endpoint that remembers back to `since` finds none of the hashes, and
 * there is one. stellar-rpc has no gaps between the oldest and the newest ledger that it reports (`db/ledger.go`).
 *
 * The word of one endpoint is no proof, because what follows from it is signed again: an endpoint that is silent or behind could know the
 * transaction, so it prevents the proof.
 */
export async function proveInclusion(
  { client, passphrase }: { readonly client: PooledClient; readonly passphrase: string },
  attempts: readonly StellarAttempt[],
  { asOf, since }: Freshness = {},
): Promise<InclusionProof> {
  const hashes = [...new Set(attempts.flatMap((attempt) => hashesOf(attempt)))]
  const sourceAccounts = [...new Set(attempts.map(({ sourceAccount }) => sourceAccount))]
  const terms: Terms = omitUndefined({ passphrase, asOf, since })
  const first = await askEverywhere(client, { sourceAccounts, hashes, terms })
  const found = inclusionIn(first, attempts)
  if (found) return found
  const open = absenceBySequence(
    attempts,
    first.map(({ accounts }) => accounts),
    asOf,
  )
  if (open.length === 0) return { kind: 'absent' }
  // stellar-rpc looks for the transaction before it reads its newest ledger (`get_transaction.go`), so one
  // NOT_FOUND may describe an earlier ledger than the one that it names. The second question starts after the
  // first answer has named that ledger.
  const second = await askEverywhere(client, { sourceAccounts: [], hashes, terms })
  const foundLate = inclusionIn(second, attempts)
  if (foundLate) return foundLate
  const doubt = absenceByHistory(
    [first, second].map((round) => round.map(({ lookups }) => lookups)),
    open,
  )
  return doubt === undefined ? { kind: 'absent' } : unknown(doubt, terms)
}

function unknown(doubt: Doubt, terms: Terms): InclusionProof {
  const detail = explainMissingProof(doubt, terms)
  return doubt.kind === 'forgotten'
    ? { kind: 'unknown', detail, unprovable: true }
    : { kind: 'unknown', detail }
}

/** The answers of one endpoint. */
interface EndpointFindings {
  readonly accounts: AccountsAt | undefined
  /** In the order of the hashes. */
  readonly lookups: readonly LookupResult[]
}

interface Question {
  /** The accounts to read; none when empty. */
  readonly sourceAccounts: readonly string[]
  readonly hashes: readonly string[]
  readonly terms: Terms
}

async function askEverywhere(
  client: PooledClient,
  { sourceAccounts, hashes, terms }: Question,
): Promise<readonly EndpointFindings[]> {
  const accountCalls = sourceAccounts.length > 0 ? [entriesCall(sourceAccounts)] : []
  const answers = await client.sendEverywhere([...accountCalls, ...hashes.map(receiptCall)], terms.asOf)
  return answers.map((endpointReplies) => ({
    accounts: accountCalls.length > 0 ? readAccountsAt(endpointReplies[0]?.reply) : undefined,
    lookups: hashes.map((hash, index) =>
      readLookup(hash, endpointReplies[accountCalls.length + index], terms),
    ),
  }))
}

function inclusionIn(
  findings: readonly EndpointFindings[],
  attempts: readonly StellarAttempt[],
): InclusionProof | undefined {
  for (const result of findings.flatMap(({ lookups }) => lookups)) {
    if (result.kind !== 'included') continue
    const { receipt } = result
    const candidates = attempts.filter((one) => hashesOf(one).includes(receipt.hash))
    const attempt = includedAttempt(attempts, { receipt, candidates })
    if (attempt !== undefined) return { kind: 'included', number: attempt.number, receipt }
  }
  return undefined
}

/** Proofs that attempts were never applied. All functions here are pure. */

/** The sequence number of its account does not prove that this attempt was never applied. */
interface OpenAttempt {
  readonly attempt: StellarAttempt
  /**
   * `passed`: this attempt or another one used the number · `gone`: the ledger has no such account ·
   * `unread`: no endpoint returned it.
   */
  readonly sequence: 'passed' | 'gone' | 'unread'
}

/**
 * Returns the attempts that may have been applied up to the ledger `asOf`, as far as sequence numbers tell.
 * `accounts` has the answer of every endpoint, undefined for silence: one that lies or has lost ledgers must
 * not speak for the others. Each applied transaction raises its account's sequence number to its own, also
 * when its operations fail, and nothing ever lowers it: BumpSequence only raises it (CAP-1), and an account
 * that is merged and created again starts at the number of its ledger times 2^32, which merging keeps higher
 * (`MergeOpFrame`, ACCOUNT_MERGE_SEQNUM_TOO_FAR). So a lower number in that ledger, or a later one, proves
 * that the attempt was not applied. A missing account proves nothing: it may have been merged after the
 * attempt. Attempts whose absence was proved before are left out.
 */
function absenceBySequence(
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
  // A sequence number never falls, so the reply of a node that is behind also counts.
  if (told.some((sequence) => sequence >= nonce)) return 'passed'
  const fresh = accounts.filter(
    (account) => account !== undefined && (asOf === undefined || account.ledger >= asOf),
  )
  if (fresh.length === 0 || fresh.length < accounts.length) return 'unread'
  return told.length === accounts.length ? 'below' : 'gone'
}

/** The reason why absence is not proved. */
interface Doubt extends OpenAttempt {
  /** `forgotten`: every endpoint answered, and none remembers far enough back · `open`: a retry may help. */
  readonly kind: 'open' | 'forgotten'
}

/**
 * Returns undefined if the histories of the endpoints prove, in each round of questions, that no ledger
 * contains any of the hashes: each endpoint that could know them denies them, and one does. An endpoint that
 * no longer keeps that time could not know; a silent one could (I6). `rounds` contain the look-ups of every
 * endpoint, resting ones included. Pure.
 */
function absenceByHistory(
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
function explainMissingProof(
  { attempt, sequence, kind }: Doubt,
  { asOf, since }: Pick<Terms, 'asOf' | 'since'>,
): string {
  const { sourceAccount, nonce, signed } = attempt
  if (sequence === 'unread')
    return `Not every endpoint returned the sequence number of ${sourceAccount} at ledger ${asOf ?? 'latest'}, so nothing proves that ${nonce} was not used.`
  const fact =
    sequence === 'gone'
      ? `Account ${sourceAccount} is gone`
      : `Sequence number ${nonce} of ${sourceAccount} was used`
  const back = since === undefined ? '' : ` back to ${since.toISOString()}`
  if (kind === 'open')
    return `${fact}, and not every endpoint returned its history${back} up to ledger ${asOf ?? 'latest'}, which would show the transaction.`
  const hash = signed.innerHash ?? signed.hash
  return `${fact}, and no endpoint keeps its history${back}. Look up transaction ${hash} in an archive of the network: if it is there, this transaction was executed; if it is not, it was not.`
}
