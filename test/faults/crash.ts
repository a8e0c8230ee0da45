import { setTimeout as pause } from 'node:timers/promises'
import type { Transaction } from '../support/service.ts'
import { until } from '../support/until.ts'
import { act, type Deed } from './deed.ts'
import type { Ask } from './ledger.ts'
import { pathOf, type Stage } from './stage.ts'

/**
 * Where the process dies. `before`: it waits for the node, which never hears of the call (the `nth` of its kind; the first
 * when absent) · `after`: the node has done
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
  stage: Stage,
  change: 'send' | 'replace' | 'cancel',
  point: CrashPoint,
): Promise<void> {
  const kit = stage.world.site.crash
  if (change !== 'send') await sendOne(stage)
  await pause(PRICES_FORGOTTEN_MS)
  if (point.at === 'before' || point.at === 'after') await dieInCall(stage, kit[change], point)
  else await dieLater(stage, kit[change], point)
}

/** Sends a transaction and waits until a node has it. */
export async function sendOne(stage: Stage): Promise<void> {
  await seeStatus(stage, await ask(stage, stage.world.site.crash.send), 'submitted')
}

async function dieInCall(
  stage: Stage,
  deed: Deed,
  point: Extract<CrashPoint, { readonly method: string }>,
): Promise<void> {
  const { site } = stage.world
  const [node] = site.nodes
  const { at, method, blocks = method === site.crash.receiptCall } = point
  let left = 'nth' in point ? (point.nth ?? 1) : 1
  if (node === undefined) throw new Error('a crash needs a node to hold the call')
  const reborn = Promise.withResolvers<void>()
  const die = () => stage.world.restart('kill').then(reborn.resolve, reborn.reject)
  node.fault = (methods) => {
    if (!methods.includes(method)) return 'pass'
    left -= 1
    if (left > 0) return 'pass'
    node.fault = () => 'pass'
    return at === 'after' ? { kind: 'then', happens: die } : die().then(() => 'drop')
  }
  const asked = ask(stage, deed)
  const mining = blocks ? mineUntil(stage, reborn.promise) : undefined
  await Promise.all([reborn.promise, asked, mining])
}

async function dieLater(
  stage: Stage,
  deed: Deed,
  point: Exclude<CrashPoint, { readonly method: string }>,
): Promise<void> {
  const { site } = stage.world
  const [node] = site.nodes
  if (node !== undefined && point.at === 'status' && point.status === 'sent') {
    node.fault = (methods) => (methods.includes(site.crash.broadcastCall) ? 'drop' : 'pass')
  }
  const asked = await ask(stage, deed)
  if (point.at === 'status') await seeStatus(stage, asked, point.status)
  await stage.world.restart('kill')
  if (node !== undefined) node.fault = () => 'pass'
}

async function ask(stage: Stage, deed: Deed): Promise<Ask> {
  await act(stage, { deed, awaited: true, pauseMs: 0 })
  const asked = stage.ledger.asks.at(-1)
  if (asked === undefined) throw new Error('nothing was asked')
  return asked
}

async function seeStatus(
  { world }: Stage,
  { id, account }: Ask,
  status: Transaction['status'],
): Promise<void> {
  await until(
    async () => {
      if (status === 'mined') await world.site.makeBlock()
      return (await world.api('GET', `${pathOf(world, account)}/${id}`)).body.data
    },
    (seen) => seen.status === status,
  )
}

async function mineUntil({ world }: Stage, end: Promise<void>): Promise<void> {
  let ended = false
  void end.finally(() => {
    ended = true
  })
  while (!ended) {
    await world.site.makeBlock()
    await pause(BLOCK_MS)
  }
}
