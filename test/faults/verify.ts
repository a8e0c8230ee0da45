import { setTimeout as pause } from 'node:timers/promises'
import type { Transaction } from '../support/service.ts'
import { type Evidence, judge } from './judge.ts'
import type { Witness } from './site.ts'
import { pathOf, type Stage } from './stage.ts'
import type { World } from './world.ts'

/** Where the chain stood and what was known before a history. */
export interface Stock {
  readonly witness: Witness
  /** Ids of the transactions of earlier histories. */
  readonly known: ReadonlySet<string>
}

export async function takeStock(world: World): Promise<Stock> {
  const listed = await listAll(world, new Set())
  return { witness: await world.site.witness(), known: new Set(listed.map(({ id }) => id)) }
}

/** More rounds than any wait of the service needs; so many only when something waits for ever. */
const MAX_ROUNDS = 800

/** How long a round takes for us, in ms; for the service it is the time between two blocks. */
const REAL_MS = 15

/** Money, blocks and time until nothing is open, then as many blocks as the next history may undo. Gives what stays open. */
export async function settle(world: World, known: ReadonlySet<string>): Promise<string[]> {
  const { site } = world
  await site.relieve()
  let open: Transaction[] = []
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    await site.makeBlock()
    world.advance(site.blockMs)
    await pause(REAL_MS)
    open = (await listAll(world, known)).filter(({ status }) => OPEN.includes(status))
    if (open.length === 0) break
  }
  for (let count = 0; count < site.depth; count += 1) await site.makeBlock()
  return open.map(({ id, status, status_reason }) => `${id} stays ${status}: ${status_reason ?? ''}`)
}

const OPEN = ['pending', 'sent', 'submitted', 'mined']

/** Most in one page. */
const PAGE = 100

/** What is not known yet, of all accounts. */
async function listAll(world: World, known: ReadonlySet<string>): Promise<Transaction[]> {
  const accounts = [...world.site.relayers.keys()]
  return (await Promise.all(accounts.map((account) => listNewest(world, account, known)))).flat()
}

/** The account's transactions that are not known yet, newest first. */
async function listNewest(world: World, account: number, known: ReadonlySet<string>): Promise<Transaction[]> {
  const listed: Transaction[] = []
  for (let page = 1; ; page += 1) {
    const path = `${pathOf(world, account)}?per_page=${PAGE}&page=${page}`
    const { data } = (await world.api<Transaction[]>('GET', path)).body
    const fresh = data.filter(({ id }) => !known.has(id))
    listed.push(...fresh)
    if (fresh.length < PAGE) return listed
  }
}

/** Compares everything that happened since with the chain itself. */
export async function examine(
  { world, ledger }: Stage,
  { witness, known }: Stock,
): Promise<{ records: Transaction[]; violations: string[] }> {
  const evidence: Evidence[] = []
  for (const [account, included] of (await witness.walk()).entries()) {
    const listed = await listNewest(world, account, known)
    const paths = listed.map(({ id }) => `${pathOf(world, account)}/${id}`)
    const records = await Promise.all(paths.map(async (path) => (await world.api('GET', path)).body.data))
    const { differences } = witness
    evidence.push({ ledger, account, records, included, differences })
  }
  return {
    records: evidence.flatMap(({ records }) => records),
    violations: [...ledger.scandals, ...evidence.flatMap(judge), ...(await witness.problems(evidence))],
  }
}
