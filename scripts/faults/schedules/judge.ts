/** What a schedule was told to do. */
export interface Told {
  readonly id: string
  /** Whom each run pays the smallest unit; nobody else pays it. */
  readonly receiver: string
  /** It runs in each minute that this divides. */
  readonly everyMinutes: number
  readonly overlap: 'skip' | 'allow'
  readonly maxRuns: number | undefined
  /** The most runs of a UTC day that the rules of its API key allow. */
  readonly maxPerDay: number | undefined
  /** The first time, as the creation has answered. */
  readonly firstAt: Date
  /** A caller has paused or changed it meanwhile, so that times can be left out without a record. */
  isTouched: boolean
}

/** A decided time, as it is stored. */
export interface StoredRun {
  readonly scheduled_at: Date
  readonly outcome: 'sent' | 'refused' | 'skipped'
  readonly decided_at: Date
  readonly transaction_id: string | null
  readonly times: number
}

/** A transaction of a schedule, as it is stored. */
export interface StoredTransaction {
  readonly id: string
  readonly status: string
  readonly created_at: Date
  readonly confirmed_at: Date | null
}

/** What is stored and what the chain says about a schedule in the end. */
export interface Evidence {
  readonly state: string
  readonly runs: number
  readonly lastAt: Date | undefined
  readonly decided: readonly StoredRun[]
  readonly transactions: readonly StoredTransaction[]
  /** The times of its events about runs. */
  readonly announced: readonly { readonly at: string; readonly outcome: string }[]
  readonly balance: bigint
}

const MINUTE_MS = 60_000

/** Tells what is wrong with a schedule in the end. Pure. */
export function judge(told: Told, evidence: Evidence): string[] {
  return [
    ...countsOf(evidence),
    ...executions(evidence),
    ...coverage(told, evidence),
    ...bounds(told, evidence),
    ...overlaps(told, evidence),
    ...announcements(evidence),
  ].map((problem) => `schedule ${told.id} (every ${told.everyMinutes} min): ${problem}`)
}

/** A run is one record, one count and one transaction: they are one commit. */
function countsOf({ runs, decided, transactions }: Evidence): string[] {
  const sent = decided.filter(({ outcome }) => outcome === 'sent')
  const ids = new Set(sent.map(({ transaction_id }) => transaction_id))
  const stored = new Set<string | null>(transactions.map(({ id }) => id))
  const counts = [runs, sent.length, ids.size, stored.size, [...ids].filter((id) => stored.has(id)).length]
  if (new Set(counts).size === 1) return []
  return [
    `it counts ${runs} runs; ${sent.length} are recorded as sent, with ${ids.size} transactions, and ${stored.size} are stored`,
  ]
}

function executions({ transactions, balance }: Evidence): string[] {
  const open = transactions.filter(({ status }) => status !== 'confirmed')
  const wrong = open.map(({ id, status }) => `transaction ${id} is ${status}`)
  if (balance === BigInt(transactions.length - open.length)) return wrong
  return [...wrong, `its receiver was paid ${balance} times, by ${transactions.length} transactions`]
}

/** Every time up to the newest decided one is decided exactly once, whatever was killed. */
function coverage({ everyMinutes, firstAt, isTouched }: Told, { decided, lastAt }: Evidence): string[] {
  const stepMs = everyMinutes * MINUTE_MS
  const covered = decided.flatMap(({ scheduled_at: from, times }) =>
    Array.from({ length: times }, (_, index) => nthAfter(from.getTime(), index, stepMs)),
  )
  const distinct = new Set(covered)
  const problems = distinct.size === covered.length ? [] : ['a time was decided twice']
  const strange = covered.filter((at) => !isTouched && !isTime(at, everyMinutes))
  problems.push(...strange.map((at) => `${said(at)} is no time of it`))
  if (isTouched || lastAt === undefined) return problems
  for (let at = firstAt.getTime(); at <= lastAt.getTime(); at = nthAfter(at, 1, stepMs))
    if (!distinct.has(at)) problems.push(`${said(at)} was never decided`)
  return problems
}

/** Times of the minutes that a number divides begin anew with the hour; the numbers divide 60. */
function nthAfter(from: number, count: number, stepMs: number): number {
  return from + count * stepMs
}

function isTime(at: number, everyMinutes: number): boolean {
  return at % (everyMinutes * MINUTE_MS) === 0
}

function bounds({ maxRuns, maxPerDay }: Told, { runs, state, transactions, decided }: Evidence): string[] {
  const problems: string[] = []
  if (maxRuns !== undefined && runs > maxRuns) problems.push(`it has sent ${runs} of ${maxRuns}`)
  if (maxRuns !== undefined && runs === maxRuns && state === 'active')
    problems.push(`it has sent all, and is ${state}`)
  const early = decided.filter(({ scheduled_at, decided_at }) => decided_at < scheduled_at)
  problems.push(
    ...early.map(({ scheduled_at }) => `${said(scheduled_at.getTime())} was decided before it came`),
  )
  if (maxPerDay === undefined) return problems
  const days = Map.groupBy(transactions, ({ created_at }) => created_at.toISOString().slice(0, 10))
  for (const [day, { length }] of days)
    if (length > maxPerDay)
      problems.push(`on ${day} it has sent ${length}, and its key may send ${maxPerDay}`)
  return problems
}

/** Where overlaps are left out, a run comes after the end of the one before. */
function overlaps({ overlap }: Told, { decided, transactions }: Evidence): string[] {
  if (overlap === 'allow') return []
  const byId = new Map(transactions.map((one) => [one.id, one]))
  const sent = decided
    .filter(({ outcome }) => outcome === 'sent')
    .sort((one, other) => one.scheduled_at.getTime() - other.scheduled_at.getTime())
    .map(({ transaction_id: id }) => byId.get(id ?? ''))
  return sent.flatMap((one, index) => {
    const before = sent[index - 1]
    if (one === undefined || before === undefined) return []
    const end = before.confirmed_at
    return end === null || end > one.created_at
      ? [`transaction ${one.id} was accepted while ${before.id} was not final`]
      : []
  })
}

/** What was not sent is told once. */
function announcements({ decided, announced }: Evidence): string[] {
  const told = announced.map(({ at, outcome }) => `${at} ${outcome}`)
  const problems = new Set(told).size === told.length ? [] : ['an outcome was announced twice']
  for (const { scheduled_at, outcome, transaction_id } of decided)
    if (
      outcome === 'refused' &&
      transaction_id === null &&
      !told.includes(`${scheduled_at.toISOString()} refused`)
    )
      problems.push(`${said(scheduled_at.getTime())} was refused, and no event says so`)
  return problems
}

function said(at: number): string {
  return new Date(at).toISOString()
}
