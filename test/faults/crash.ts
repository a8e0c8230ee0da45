import { setTimeout as pause } from 'node:timers/promises'
import type { Transaction } from '../support/service.ts'
import { until } from '../support/until.ts'
import { act } from './act.ts'
import type { Ask } from './ledger.ts'
import type { Event } from './plan.ts'
import type { Stage } from './stage.ts'
import { ACCOUNTS } from './world.ts'

/**
 * Where the process dies. `before`: it waits for the node, which never hears of the call · `after`: the node has done
 * it, the reply is lost · `status`: the API shows this status · `answer`: the caller has just got the answer.
 */
export type CrashPoint =
  | { readonly at: 'before'; readonly method: string }
  | { readonly at: 'after'; readonly method: string }
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
  if (change !== 'send') {
    const sent = await ask(stage, SEND)
    await seeStatus(stage, sent, 'submitted')
  }
  await pause(PRICES_FORGOTTEN_MS)
  const event = EVENTS[change]
  if (point.at === 'before' || point.at === 'after') await dieInCall(stage, event, point)
  else await dieLater(stage, event, point)
}

const SEND: Event = { is: 'send', account: 0, price: 'none', gas: false, reverts: false }

const EVENTS: Readonly<Record<'send' | 'replace' | 'cancel', Event>> = {
  send: SEND,
  replace: { is: 'replace', target: 0, price: 'fastest', gas: false },
  cancel: { is: 'cancel', target: 0 },
}

async function dieInCall(
  stage: Stage,
  event: Event,
  { at, method }: Extract<CrashPoint, { readonly method: string }>,
): Promise<void> {
  const [node] = stage.world.nodes
  if (node === undefined) throw new Error('a crash needs a node to hold the call')
  const reborn = Promise.withResolvers<void>()
  const die = () => stage.world.restart('kill').then(reborn.resolve, reborn.reject)
  node.fault = (methods) => {
    if (!methods.includes(method)) return 'pass'
    node.fault = () => 'pass'
    return at === 'after' ? { kind: 'then', happens: die } : die().then(() => 'drop')
  }
  const asked = ask(stage, event)
  const mining = method === 'eth_getTransactionReceipt' ? mineUntil(stage, reborn.promise) : undefined
  await Promise.all([reborn.promise, asked, mining])
}

async function dieLater(
  stage: Stage,
  event: Event,
  point: Exclude<CrashPoint, { readonly method: string }>,
): Promise<void> {
  const [node] = stage.world.nodes
  if (node !== undefined && point.at === 'status' && point.status === 'sent') {
    node.fault = (methods) => (methods.includes('eth_sendRawTransaction') ? 'drop' : 'pass')
  }
  const asked = await ask(stage, event)
  if (point.at === 'status') await seeStatus(stage, asked, point.status)
  await stage.world.restart('kill')
  if (node !== undefined) node.fault = () => 'pass'
}

async function ask(stage: Stage, event: Event): Promise<Ask> {
  await act(stage, { event, awaited: true, pauseMs: 0 })
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
      if (status === 'mined') await world.anvil.rpc('evm_mine')
      return (await world.api('GET', `/relayers/${ACCOUNTS[account]?.relayer}/transactions/${id}`)).body.data
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
    await world.anvil.rpc('evm_mine')
    await pause(BLOCK_MS)
  }
}
