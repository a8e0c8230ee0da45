import { setTimeout as pause } from 'node:timers/promises'
import { captureFork } from '../../../test/support/forked.ts'
import { createRandom, type Random } from '../../../test/support/random.ts'
import type { Transaction } from '../../../test/support/service.ts'
import { type HistoryRun, pathOf } from '../history-run.ts'
import { CONFIRMATIONS } from './accounts.ts'
import { sendPayment } from './calls.ts'
import type { Environment, Reorganisations } from './environment.ts'

/**
 * The chain loses more blocks than a final transaction has behind it. What was in them is gone, or comes in again, or another version of it
 * comes in; then another relayer goes on paying until its payments are final on the new chain.
 */
export interface DeepReorg {
  readonly is: 'deep_reorg'
  readonly depth: number
  /** Of the decisions about what was in the blocks. */
  readonly seed: number
  /** Who pays on the new chain, and how often. */
  readonly account: number
  readonly payments: number
}

/** The most blocks that the chain loses at once: what became final a few blocks ago is in them. */
export const DEEPEST = 12

/** How often it comes, as a weight of a hundred: half a dozen times in a history of the usual length. */
const WEIGHT = 15

/** What becomes of the nonce of a lost transaction, as weights. `other`: another version of it, such as a payment that was canceled. */
const FATES: Readonly<Record<'same' | 'other' | 'nothing', number>> = { same: 1, other: 3, nothing: 2 }

/** The longest that we wait for the service to see that transactions are final, and the time from one look to the next, in ms of our time. */
const REAL_MS = 2_500
const LOOK_MS = 20

const FINAL: readonly string[] = ['confirmed', 'canceled', 'expired', 'failed']

/** Draws such an event now and then. */
export function drawDeepReorg(random: Random, accounts: number): DeepReorg | undefined {
  if (!random.chance(WEIGHT / 100)) return undefined
  return {
    is: 'deep_reorg',
    depth: random.int(CONFIRMATIONS + 2, DEEPEST),
    seed: random.int(1, 1_000_000),
    account: random.int(0, accounts - 1),
    payments: random.int(1, 2),
  }
}

/** Lets it happen. No time passes for the service, so it makes the new payments final before it looks at the old ones again. */
export async function deepReorg(
  environment: Environment,
  reorganisations: Reorganisations,
  { run, event }: { readonly run: HistoryRun; readonly event: DeepReorg },
): Promise<void> {
  const { anvil, nodes, accounts } = environment
  const random = createRandom(event.seed)
  await makeFinal(environment, run)
  const addresses = accounts.map(({ address }) => address)
  const fork = await captureFork(anvil, { depth: event.depth, addresses, staysFor: CONFIRMATIONS })
  const undone = new Set(fork.receipts.keys())
  const records = await recordsIn(run, undone, await recordsOf(run))
  for (const { id, status, hash } of records)
    if (FINAL.includes(status)) {
      reorganisations.lost.set(id, `${status} as ${hash?.slice(0, 10)}`)
      reorganisations.lostInAll += 1
    }
  for (const node of nodes) node.fork = fork
  await anvil.rpc('anvil_rollback', [event.depth])
  const empty = random.int(0, event.depth - 1)
  for (let count = 0; count < empty; count += 1) await anvil.rpc('evm_mine')
  for (const raw of comeIn(reorganisations, { records, undone, random })) {
    // It may be worth less by now than what the pool has, or than the account has.
    await anvil.rpc('eth_sendRawTransaction', [raw]).catch(() => undefined)
  }
  for (let count = empty; count < event.depth; count += 1) await anvil.rpc('evm_mine')
  for (let count = 0; count < event.payments; count += 1) {
    await sendPayment(environment, run, {
      is: 'send',
      account: event.account,
      price: 'fast',
      gas: true,
      reverts: false,
    })
  }
  await makeFinal(environment, run)
}

/** Makes blocks until what the service has broadcast is final and the service knows it, where it is able to see that. */
async function makeFinal({ anvil }: Environment, run: HistoryRun): Promise<void> {
  const end = Date.now() + REAL_MS
  for (let blocks = 0; Date.now() < end; ) {
    const open = (await recordsOf(run)).filter(({ status }) => !FINAL.includes(status))
    if (open.length === 0) return
    const isMined = open.every(({ status }) => status === 'mined')
    if (!isMined || blocks <= CONFIRMATIONS) {
      await anvil.rpc('evm_mine')
      blocks += isMined ? 1 : 0
    }
    await pause(LOOK_MS)
  }
}

/** The newest records of all accounts, without their attempts: as many as a history of the usual length can have. */
async function recordsOf({ testBed }: HistoryRun): Promise<Transaction[]> {
  const lists = await Promise.all(
    [...testBed.testChain.relayers.keys()].map((account) =>
      testBed.api<Transaction[]>('GET', `${pathOf(testBed, account)}?per_page=100`),
    ),
  )
  return lists.flatMap(({ body }) => body.data)
}

/** Those that the lost blocks held, with their attempts. */
async function recordsIn(
  { testBed }: HistoryRun,
  undone: ReadonlySet<string>,
  records: readonly Transaction[],
) {
  const held = records.filter(({ hash }) => undone.has(String(hash)))
  const shown = await Promise.all(
    held.map(({ relayer_id, id }) => testBed.api('GET', `/relayers/${relayer_id}/transactions/${id}`)),
  )
  return shown.map(({ body }) => body.data)
}

interface Lost {
  readonly records: readonly Transaction[]
  readonly undone: ReadonlySet<string>
  readonly random: Random
}

/** Signed bytes that come in on the new chain, by nonce. Where nothing has the nonce, nothing behind it can come in. */
function comeIn({ signed }: Reorganisations, { records, undone, random }: Lost): string[] {
  const lost = records.toSorted((a, b) => Number(a.nonce) - Number(b.nonce))
  const ended = new Set<string>()
  return lost.flatMap(({ relayer_id, attempts, nonce }) => {
    const fate = random.weighted(FATES)
    const choice = random.next()
    if (fate === 'nothing') ended.add(relayer_id)
    if (ended.has(relayer_id)) return []
    const others = attempts.filter((attempt) => !undone.has(attempt.hash) && attempt.nonce === nonce)
    const same = attempts.find(({ hash }) => undone.has(hash))
    const chosen = fate === 'other' && others.length > 0 ? others[Math.floor(choice * others.length)] : same
    return signed.get(chosen?.hash ?? '') ?? []
  })
}
