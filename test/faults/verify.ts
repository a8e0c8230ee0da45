import { setTimeout as pause } from 'node:timers/promises'
import type { Transaction } from '../support/service.ts'
import { fund } from './chain-event.ts'
import { headOf, usedNonces, waitingNonces, walkChain } from './chain-walk.ts'
import { judge } from './judge.ts'
import type { Stage } from './stage.ts'
import { ACCOUNTS, CONFIRMATIONS, type World } from './world.ts'

/** Where the chain stood and what was known before a history. */
export interface Stock {
  readonly height: number
  readonly nonces: readonly number[]
  /** Ids of the transactions of earlier histories. */
  readonly known: ReadonlySet<string>
}

export async function takeStock(world: World): Promise<Stock> {
  const nonces = await Promise.all(ACCOUNTS.map(({ address }) => usedNonces(world.anvil, address)))
  const lists = await Promise.all(ACCOUNTS.map((_, account) => listNewest(world, account, new Set())))
  return { height: await headOf(world.anvil), nonces, known: new Set(lists.flat().map(({ id }) => id)) }
}

/** More rounds than any wait of the service needs; so many only when something waits for ever. */
const MAX_ROUNDS = 800

/** Time that passes for the service in each round, in ms; for us it is `REAL_MS`. */
const ROUND_MS = 500
const REAL_MS = 15

/** Money, blocks and time until nothing is open, then as many blocks as the next history may undo. Gives what stays open. */
export async function settle(world: World, known: ReadonlySet<string>): Promise<string[]> {
  for (const [account] of ACCOUNTS.entries()) await fund(world, account)
  let open: Transaction[] = []
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    await world.anvil.rpc('evm_mine')
    world.advance(ROUND_MS)
    await pause(REAL_MS)
    const lists = await Promise.all(ACCOUNTS.map((_, account) => listNewest(world, account, known)))
    open = lists.flat().filter(({ status }) => OPEN.includes(status))
    if (open.length === 0) break
  }
  for (let count = 0; count < CONFIRMATIONS; count += 1) await world.anvil.rpc('evm_mine')
  return open.map(({ id, status, status_reason }) => `${id} stays ${status}: ${status_reason ?? ''}`)
}

const OPEN = ['pending', 'sent', 'submitted', 'mined']

/** Most in one page. */
const PAGE = 100

/** The account's transactions that are not known yet, newest first. */
async function listNewest(world: World, account: number, known: ReadonlySet<string>): Promise<Transaction[]> {
  const listed: Transaction[] = []
  for (let page = 1; ; page += 1) {
    const path = `/relayers/${ACCOUNTS[account]?.relayer}/transactions?per_page=${PAGE}&page=${page}`
    const { data } = (await world.api<Transaction[]>('GET', path)).body
    const fresh = data.filter(({ id }) => !known.has(id))
    listed.push(...fresh)
    if (fresh.length < PAGE) return listed
  }
}

/** Compares everything that happened since with the chain itself. */
export async function examine(
  { world, ledger }: Stage,
  before: Stock,
): Promise<{ records: Transaction[]; violations: string[] }> {
  const { anvil } = world
  const chain = await walkChain(anvil, before.height)
  const all: Transaction[] = []
  const violations = [...ledger.scandals]
  for (const [account, { address, relayer }] of ACCOUNTS.entries()) {
    const listed = await listNewest(world, account, before.known)
    const paths = listed.map(({ id }) => `/relayers/${relayer}/transactions/${id}`)
    const records = await Promise.all(paths.map(async (path) => (await world.api('GET', path)).body.data))
    all.push(...records)
    const evidence = {
      ledger,
      account,
      address,
      records,
      included: chain.filter(({ from }) => from === address.toLowerCase()),
      nonces: { before: before.nonces[account] ?? 0, after: await usedNonces(anvil, address) },
      waiting: await waitingNonces(anvil, address),
    }
    violations.push(...judge(evidence))
  }
  return { records: all, violations }
}
