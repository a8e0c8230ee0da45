import { setTimeout as pause } from 'node:timers/promises'
import { type HistoryRun, pathOf } from '../../scripts/faults/history-run.ts'
import type { Ask } from '../../scripts/faults/ledger.ts'
import { type Action, act } from '../../scripts/faults/step.ts'
import type { Transaction } from '../support/service.ts'
import { until } from '../support/until.ts'

/**
 * Where the process dies. `before`: it waits for the node, which never hears of the call (the `nth` of its kind; the first
 * if absent) · `after`: the node has done
 * it, the reply is lost · `status`: the API shows this status · `answer`: the caller has just got the answer.
 * `blocks`: they are made until it dies; else only for the call that tells what became of the signed bytes.
 */
export type CrashPoint =
  | { readonly at: 'before'; readonly method: string; readonly nth?: number; readonly blocks?: true }
  | { readonly at: 'after'; readonly method: string; readonly blocks?: true }
  | { readonly at: 'status'; readonly status: 'sent' | 'submitted' | 'mined' }
  | { readonly at: 'answer' }

/** Prices are remembered for a block of the network (200 ms); after that a step has to ask the node again. */
const PRICES_FORGOTTEN_MS = 250

/** How often a block comes where the death waits for one, in ms. */
const BLOCK_MS = 50

/** Sends, replaces or cancels a transaction, and kills the process at this point of it. The service runs again then. */
export async function crash(
  run: HistoryRun,
  change: 'send' | 'replace' | 'cancel',
  point: CrashPoint,
): Promise<void> {
  const kit = run.testBed.testChain.crash
  if (change !== 'send') await sendOne(run)
  await pause(PRICES_FORGOTTEN_MS)
  if (point.at === 'before' || point.at === 'after') await dieInCall(run, kit[change], point)
  else await dieLater(run, kit[change], point)
}

/** Sends a transaction and waits until a node has it. */
export async function sendOne(run: HistoryRun): Promise<void> {
  await seeStatus(run, await ask(run, run.testBed.testChain.crash.send), 'submitted')
}

async function dieInCall(
  run: HistoryRun,
  action: Action,
  point: Extract<CrashPoint, { readonly method: string }>,
): Promise<void> {
  const { testChain } = run.testBed
  const [node] = testChain.nodes
  const { at, method, blocks = method === testChain.crash.receiptCall } = point
  let left = 'nth' in point ? (point.nth ?? 1) : 1
  if (node === undefined) throw new Error('a crash needs a node to hold the call')
  const reborn = Promise.withResolvers<void>()
  const die = () => run.testBed.restart('kill').then(reborn.resolve, reborn.reject)
  node.fault = (methods) => {
    if (!methods.includes(method)) return 'pass'
    left -= 1
    if (left > 0) return 'pass'
    node.fault = () => 'pass'
    return at === 'after' ? { kind: 'then', happens: die } : die().then(() => 'drop')
  }
  const asked = ask(run, action)
  const mining = blocks ? mineUntil(run, reborn.promise) : undefined
  await Promise.all([reborn.promise, asked, mining])
}

async function dieLater(
  run: HistoryRun,
  action: Action,
  point: Exclude<CrashPoint, { readonly method: string }>,
): Promise<void> {
  const { testChain } = run.testBed
  const [node] = testChain.nodes
  if (node !== undefined && point.at === 'status' && point.status === 'sent') {
    node.fault = (methods) => (methods.includes(testChain.crash.broadcastCall) ? 'drop' : 'pass')
  }
  const asked = await ask(run, action)
  if (point.at === 'status') await seeStatus(run, asked, point.status)
  await run.testBed.restart('kill')
  if (node !== undefined) node.fault = () => 'pass'
}

async function ask(run: HistoryRun, action: Action): Promise<Ask> {
  await act(run, { action, awaited: true, pauseMs: 0 })
  const asked = run.ledger.asks.at(-1)
  if (asked === undefined) throw new Error('nothing was asked')
  return asked
}

async function seeStatus(
  { testBed }: HistoryRun,
  { id, account }: Ask,
  status: Transaction['status'],
): Promise<void> {
  await until(
    async () => {
      if (status === 'mined') await testBed.testChain.makeBlock()
      return (await testBed.api('GET', `${pathOf(testBed, account)}/${id}`)).body.data
    },
    (seen) => seen.status === status,
  )
}

async function mineUntil({ testBed }: HistoryRun, end: Promise<void>): Promise<void> {
  let ended = false
  void end.finally(() => {
    ended = true
  })
  while (!ended) {
    await testBed.testChain.makeBlock()
    await pause(BLOCK_MS)
  }
}
