import { setTimeout as pause } from 'node:timers/promises'
import type { Transaction } from '../../test/support/service.ts'
import { checkPromises, type Evidence } from './check-promises.ts'
import { type HistoryRun, pathOf } from './history-run.ts'
import type { TestBed } from './test-bed.ts'
import type { ChainRecord } from './test-chain.ts'

/** Where the chain stood and what was known before a history. */
export interface Baseline {
  readonly chainRecord: ChainRecord
  /** Ids of the transactions of earlier histories. */
  readonly known: ReadonlySet<string>
}

export async function takeBaseline(testBed: TestBed): Promise<Baseline> {
  const listed = await listAll(testBed, new Set())
  return {
    chainRecord: await testBed.testChain.chainRecord(testBed),
    known: new Set(listed.map(({ id }) => id)),
  }
}

/** More rounds than any wait of the service needs; so many only when something waits for ever. */
const MAX_ROUNDS = 800

/** How long a round takes for us, in ms; for the service it is the time between two blocks. */
const REAL_MS = 15

/** Money, blocks and time until nothing is open, then as many blocks as the next history may undo. Gives what stays open. */
export async function settle(testBed: TestBed, known: ReadonlySet<string>): Promise<string[]> {
  const { testChain } = testBed
  await testChain.relieve()
  let open = await settleRounds(testBed, known)
  if (open.length > 0 && open.every(awaitsPrice)) {
    testBed.advance(PRICE_HOLD_MS)
    open = await settleRounds(testBed, known)
  }
  for (let passedMs = 0; passedMs < (testChain.trueAgainMs ?? 0); passedMs += LOOK_MS) {
    await testChain.makeBlock()
    testBed.advance(LOOK_MS)
    await pause(REAL_MS)
  }
  for (let count = 0; count < testChain.depth; count += 1) await testChain.makeBlock()
  return open.map(({ id, status, status_reason }) => `${id} stays ${status}: ${status_reason ?? ''}`)
}

/** Makes blocks until nothing is open, or something has stood for longer than anything may; returns what is open then. */
async function settleRounds(testBed: TestBed, known: ReadonlySet<string>): Promise<Transaction[]> {
  const { testChain } = testBed
  const { standsMs } = testChain
  const rounds = standsMs === undefined ? MAX_ROUNDS : standsMs / testChain.blockMs
  let open: Transaction[] = []
  for (let round = 0; round < rounds; round += 1) {
    await testChain.makeBlock()
    testBed.advance(testChain.blockMs)
    await pause(REAL_MS)
    open = (await listAll(testBed, known)).filter(({ status }) => OPEN.includes(status))
    if (open.length === 0) break
  }
  return open
}

/**
 * A price of a caller below a minimum that a node named waits for so long, in ms, until it is tried again
 * (`node-limits.ts`); others overtake it meanwhile.
 */
const PRICE_HOLD_MS = 3_600_000

function awaitsPrice({ status_reason }: Transaction): boolean {
  return status_reason?.startsWith('Waiting for its price') === true
}

/** The time of the service from one block to the next while records become true again, in ms. */
const LOOK_MS = 1_000

const OPEN = ['pending', 'sent', 'submitted', 'mined']

/** Most in one page. */
const PAGE = 20

/** What is not known yet, of all accounts. */
async function listAll(testBed: TestBed, known: ReadonlySet<string>): Promise<Transaction[]> {
  const accounts = [...testBed.testChain.relayers.keys()]
  return (await Promise.all(accounts.map((account) => listNewest(testBed, account, known)))).flat()
}

/** The account's transactions that are not known yet, newest first. */
async function listNewest(
  testBed: TestBed,
  account: number,
  known: ReadonlySet<string>,
): Promise<Transaction[]> {
  const listed: Transaction[] = []
  for (let page = 1; ; page += 1) {
    const path = `${pathOf(testBed, account)}?per_page=${PAGE}&page=${page}`
    const { data } = (await testBed.api<Transaction[]>('GET', path)).body
    const fresh = data.filter(({ id }) => !known.has(id))
    listed.push(...fresh)
    if (fresh.length < PAGE) return listed
  }
}

/** The longest that a service on a busy machine needs for its last look, in ms of our time, and the time from one of ours to the next. */
const PATIENCE_MS = 15_000
const COMPARE_MS = 500

/** Compares everything that happened since with the chain itself, where records have to become true again until they are. */
export async function compareInTheEnd(
  run: HistoryRun,
  before: Baseline,
): ReturnType<typeof compareWithChain> {
  const end = Date.now() + (run.testBed.testChain.trueAgainMs === undefined ? 0 : PATIENCE_MS)
  for (;;) {
    const compared = await compareWithChain(run, before)
    if (compared.violations.length === 0 || Date.now() >= end) return compared
    await pause(COMPARE_MS)
  }
}

/** Compares everything that happened since with the chain itself. */
export async function compareWithChain(
  { testBed, ledger }: HistoryRun,
  { chainRecord, known }: Baseline,
): Promise<{ records: Transaction[]; violations: string[] }> {
  const evidence: Evidence[] = []
  for (const [account, included] of (await chainRecord.walk()).entries()) {
    const listed = await listNewest(testBed, account, known)
    const paths = listed.map(({ id }) => `${pathOf(testBed, account)}/${id}`)
    const records = await Promise.all(paths.map(async (path) => (await testBed.api('GET', path)).body.data))
    const { differences } = chainRecord
    evidence.push({ ledger, account, records, included, differences })
  }
  return {
    records: evidence.flatMap(({ records }) => records),
    violations: [
      ...ledger.scandals,
      ...evidence.flatMap(checkPromises),
      ...(await chainRecord.problems(evidence)),
    ],
  }
}
