import type { Transaction } from '../../test/support/service.ts'
import type { Ask, Ledger } from './ledger.ts'
import type { ChainRecord, Included } from './test-chain.ts'

/** Everything that one account did and what became of it, after the last block of a history. */
export interface Evidence {
  readonly ledger: Ledger
  readonly account: number
  /** Records of this history, each with its attempts. */
  readonly records: readonly Transaction[]
  /** What the blocks of this history hold of this account, in the order of the chain. */
  readonly included: readonly Included[]
  readonly differences: ChainRecord['differences']
}

const FINAL = ['confirmed', 'canceled', 'expired', 'failed']

/** Everything that is not as it was promised; empty when all is well. Pure. */
export function checkPromises(evidence: Evidence): string[] {
  return [
    ...nothingLost(evidence),
    ...nothingTwice(evidence),
    ...evidence.records.flatMap((record) => recordIsTrue(evidence, record)),
    ...allIsOurs(evidence),
  ]
}

function nothingLost({ ledger, account, records }: Evidence): string[] {
  const known = new Map(records.map((record) => [record.id, record]))
  const lost = ledger
    .ids()
    .filter((accepted) => accepted.account === account && !known.has(accepted.id))
    .map(({ id }) => `${id} was accepted and is gone`)
  const open = records
    .filter(({ status }) => !FINAL.includes(status))
    .map((record) => `${record.id} is not final: ${describe(record)}`)
  return [...lost, ...open]
}

/** How often the chain did what was asked. */
function executions({ included, ledger }: Evidence, { content }: Ask): Included[] {
  return included.filter(
    ({ hash, mark }) => content !== undefined && mark === content.mark && !ledger.external.has(hash),
  )
}

function asksOf({ ledger }: Evidence, id: string): Ask[] {
  return ledger.asks.filter((ask) => ask.id === id)
}

/** One request is executed at most once, and what was refused never. */
function nothingTwice(evidence: Evidence): string[] {
  const { ledger, account } = evidence
  const asks = ledger.asks.filter((ask) => ask.account === account)
  const refused = asks
    .filter((ask) => ask.said === 'refused' && executions(evidence, ask).length > 0)
    .map(
      (ask) =>
        `a ${ask.kind} of ${ask.id ?? 'nothing'} was refused (${ask.answer}) and executed all the same`,
    )
  const twice = [...Map.groupBy(asks, (ask) => ask.id ?? ask)]
    .map(([id, same]) => ({ id, done: same.flatMap((ask) => executions(evidence, ask)) }))
    .filter(({ done }) => done.length > 1)
    .map(
      ({ id, done }) =>
        `${typeof id === 'string' ? id : 'a lost request'} was executed ${done.length} times: ${done.map((one) => one.hash).join(', ')}`,
    )
  return [...refused, ...twice]
}

function recordIsTrue(evidence: Evidence, record: Transaction): string[] {
  const says = (what: string) => `${record.id} ${what}: ${describe(record)}`
  const problems = record.attempts.flatMap((attempt) => attemptIsTrue(evidence, attempt)).map(says)
  const done = executedFor(evidence, record)
  const succeeded = done.filter(({ success }) => success)
  if (record.status === 'confirmed') problems.push(...confirmedIsTrue(evidence, record).map(says))
  else if (succeeded.length > 0)
    problems.push(says(`is ${record.status} and was executed by ${succeeded[0]?.hash}`))
  if (record.status === 'failed' && done.some(({ hash }) => hash !== record.hash)) {
    problems.push(says(`was reverted as ${done[0]?.hash} and shows another hash`))
  }
  return hasCause(evidence, record)
    ? problems
    : [...problems, says('was not executed, and nothing was the cause')]
}

/** What was accepted is executed, unless the caller, its `valid_until` or the receiver is in the way: trouble is no cause. */
function hasCause(evidence: Evidence, record: Transaction): boolean {
  const { id, status } = record
  const asks = asksOf(evidence, id)
  // A filler, or a request that was never answered.
  if (asks.length === 0) return true
  if (status === 'failed')
    return (
      asks.some((ask) => ask.mayFail || (ask.mayRevert && isReverted(evidence, id))) ||
      isPricedOut(evidence, record)
    )
  if (status === 'expired') return asks.some(({ mayExpire }) => mayExpire)
  return status !== 'canceled' || asks.some(({ kind, said }) => kind === 'cancel' && said !== 'refused')
}

/**
 * The newest content names its price, nodes refused it for that price, another one of its account was there to wait behind it, and a no-op is
 * what the chain holds instead. The record has to say all that.
 */
function isPricedOut(evidence: Evidence, { id, from, status_reason, attempts }: Transaction): boolean {
  const newest = asksOf(evidence, id).findLast(
    ({ content, said }) => content !== undefined && said !== 'refused',
  )
  const [, words] = PRICED_OUT.exec(status_reason ?? '') ?? []
  if (words === undefined || newest?.priceRefusals?.test(words) !== true) return false
  const noop = attempts.findIndex(({ kind }) => kind === 'abandon')
  const refused = attempts.slice(0, Math.max(0, noop)).at(-1)
  return (
    refused?.outcome === 'refused' &&
    refused.error === words &&
    attempts.slice(noop).some(({ outcome }) => outcome === 'mined') &&
    evidence.records.some((other) => other.id !== id && other.from === from)
  )
}

const PRICED_OUT =
  /^No endpoint accepted the price set by its caller, and others waited behind it \((.*)\); a no-op used its nonce\.$/s

function isReverted({ records }: Evidence, id: string): boolean {
  return records.some(
    (record) => record.id === id && record.attempts.some(({ outcome }) => outcome === 'reverted'),
  )
}

/** What the chain holds of everything that may have been asked for this record. */
function executedFor(evidence: Evidence, record: Transaction): Included[] {
  return asksOf(evidence, record.id).flatMap((ask) => executions(evidence, ask))
}

function confirmedIsTrue(evidence: Evidence, record: Transaction): string[] {
  const shown = evidence.included.find(({ hash }) => hash === record.hash)
  if (shown === undefined) return ['is confirmed and its hash is not in the chain']
  const problems: string[] = []
  if (!shown.success) problems.push('is confirmed and was reverted')
  problems.push(...evidence.differences(record, shown))
  const asked = evidence.ledger.asks.filter(({ id, said }) => id === record.id || said === 'unknown')
  const isOwn = record.attempts.some(({ kind }) => kind === 'gap_filler' || kind === 'setup')
  if (!isOwn && !asked.some(({ content }) => content !== undefined && content.mark === shown.mark)) {
    problems.push('is confirmed with content that no one asked for')
  }
  return [...problems, ...overtakenIsTold(evidence, record, shown)]
}

/** Where an earlier version was included although the only change was accepted, the record says so. */
function overtakenIsTold(evidence: Evidence, record: Transaction, shown: Included): string[] {
  const changes = asksOf(evidence, record.id).filter(
    ({ kind, said }) => kind !== 'send' && said !== 'refused',
  )
  const [change] = changes
  if (changes.length !== 1 || change?.said !== 'accepted' || change.content?.mark === shown.mark) return []
  return record.status_reason === undefined ? [`lost its ${change.kind} and does not say so`] : []
}

function attemptIsTrue({ included }: Evidence, attempt: Transaction['attempts'][number]): string[] {
  const found = included.find(({ hash }) => hash === attempt.hash)
  const actual = found === undefined ? 'not included' : found.success ? 'mined' : 'reverted'
  const claimed = ['mined', 'reverted'].includes(attempt.outcome) ? attempt.outcome : 'not included'
  return actual === claimed
    ? []
    : [`has attempt ${attempt.number} as ${attempt.outcome}, and it is ${actual}`]
}

/** Whatever the account did is in exactly one record, and that record shows it. */
function allIsOurs({ ledger, records, included }: Evidence): string[] {
  return included
    .filter(({ hash }) => !ledger.external.has(hash))
    .flatMap(({ hash, nonce }) => {
      const owners = records.filter((record) => record.attempts.some((attempt) => attempt.hash === hash))
      const [owner] = owners
      if (owner === undefined || owners.length > 1) {
        return [`nonce ${nonce} was used by ${hash}, which ${owners.length} records know`]
      }
      return owner.hash === hash
        ? []
        : [`${hash} is in the chain, but its record shows another: ${describe(owner)}`]
    })
}

/** A record as a person needs it to understand a violation. */
export function describe(record: Transaction): string {
  const attempts = record.attempts.map(
    ({ number, kind, outcome, hash, error }) =>
      `${number} ${kind} ${outcome} ${hash.slice(0, 10)}${error ? ` (${error})` : ''}`,
  )
  const index = record.nonce ?? `${record.source_account?.slice(0, 6)} ${record.sequence_number}`
  return `${record.status} nonce ${index} hash ${record.hash?.slice(0, 10)} "${record.status_reason ?? ''}" [${attempts.join('; ')}]`
}
