import { omitUndefined } from '../../../lib/omit-undefined.ts'
import type { Freshness, InclusionProof } from '../../answer.ts'
import { includedAttempt } from '../../included-attempt.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import { type AccountsAt, entriesCall, readAccountsAt } from '../read/accounts.ts'
import type { StellarAttempt } from '../types.ts'
import { absenceByHistory, absenceBySequence, type Doubt, explainDoubt } from './absence.ts'
import { hashesOf } from './hashes.ts'
import { type LookupResult, readLookup, receiptCall, type Terms } from './receipts.ts'

export interface ProofContext {
  readonly client: PooledClient
  readonly passphrase: string
}

/**
 * Proves whether the ledgers up to `asOf` include any attempt of one transaction.
 *
 * Every endpoint is asked, and any endpoint that knows one of the hashes proves inclusion. Absence has two proofs:
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
  { client, passphrase }: ProofContext,
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
  // stellar-rpc looks for the transaction before it reads its newest ledger (`get_transaction.go`), so one NOT_FOUND may describe an
  // earlier ledger than the one that it names. The second question starts after the first answer has named that ledger.
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
  const detail = explainDoubt(doubt, terms)
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
