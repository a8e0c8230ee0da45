import { setTimeout as pause } from 'node:timers/promises'
import type { Habits } from '../../../test/support/faulty-node.ts'
import type { WireEntry } from '../../../test/support/forked.ts'
import type { Random } from '../../../test/support/random.ts'
import type { HistoryRun } from '../history-run.ts'
import { CONFIRMATIONS } from './accounts.ts'
import { headOf } from './chain-walk.ts'
import type { Environment, Fees } from './environment.ts'

/**
 * What happens to the market and to the blocks, each time for longer than every speed waits. `halt`: no block comes · `stand_still`: blocks come,
 * and no node tells of them · `leave_out`: blocks come without anything of ours · `market`: tips and the base fee are others from now on.
 */
export type FeeEvent =
  | { readonly is: 'halt'; readonly waits: number }
  | { readonly is: 'stand_still'; readonly waits: number; readonly blocks: number }
  | { readonly is: 'leave_out'; readonly blocks: number }
  | { readonly is: 'market'; readonly tipFactor: number; readonly baseFeeGwei: number }

const FEE_EVENTS: Readonly<Record<FeeEvent['is'], number>> = {
  halt: 2,
  stand_still: 1,
  leave_out: 3,
  market: 4,
}

/** How often such an event comes, as a weight of a hundred. */
const FEE_WEIGHT = 20

/** Longer than the service waits by default before it raises a fee, in ms. */
const WAIT_MS = 200_000

/** The longest that we wait for the service to work after such a wait, and the time from one look to the next, in ms of our time. */
const REAL_MS = 150
const LOOK_MS = 5

const GWEI = 1_000_000_000n

/** Draws such an event now and then. */
export function drawFeeEvent(random: Random): FeeEvent | undefined {
  if (!random.chance(FEE_WEIGHT / 100)) return undefined
  const is = random.weighted(FEE_EVENTS)
  const waits = random.int(10, 40)
  switch (is) {
    case 'halt':
      return { is, waits }
    case 'stand_still':
      return { is, waits, blocks: random.int(0, CONFIRMATIONS) }
    case 'leave_out':
      return { is, blocks: waits }
    case 'market':
      return { is, tipFactor: random.pick([1, 1, 4, 20]), baseFeeGwei: random.pick([0, 1, 1, 10]) }
  }
}

/** Lets it happen. */
export async function feeEvent(
  environment: Environment,
  fees: Fees,
  { run, event }: { readonly run: HistoryRun; readonly event: FeeEvent },
): Promise<void> {
  const { anvil } = environment
  switch (event.is) {
    case 'halt':
      for (let waited = 0; waited < event.waits; waited += 1) await wait(environment, fees, run)
      return
    case 'stand_still':
      return standStill(environment, fees, { run, event })
    case 'leave_out':
      for (let count = 0; count < event.blocks; count += 1) {
        await anvil.rpc('anvil_dropAllTransactions')
        await anvil.rpc('evm_mine')
        await wait(environment, fees, run)
      }
      return
    case 'market':
      fees.tipFactor = event.tipFactor
      await anvil.rpc('anvil_setNextBlockBaseFeePerGas', [
        `0x${(BigInt(event.baseFeeGwei) * GWEI + 7n).toString(16)}`,
      ])
  }
}

/** Lets the time pass, for the service and for the blocks to come, until the service has broadcast something. */
async function wait({ anvil }: Environment, { watch }: Fees, { testBed, ledger }: HistoryRun): Promise<void> {
  const before = watch.broadcasts()
  // A clock that is days ahead of the times of blocks makes a proof from what nodes have deleted worthless.
  await anvil.rpc('evm_increaseTime', [WAIT_MS / 1_000])
  testBed.advance(WAIT_MS)
  if (ledger.ids().length === 0) return
  const end = Date.now() + REAL_MS
  while (watch.broadcasts() === before && Date.now() < end) await pause(LOOK_MS)
}

interface StandingStill {
  readonly run: HistoryRun
  readonly event: Extract<FeeEvent, { is: 'stand_still' }>
}

async function standStill(
  environment: Environment,
  fees: Fees,
  { run, event: { waits, blocks } }: StandingStill,
): Promise<void> {
  const { anvil, nodes } = environment
  const standsAt = await headOf(anvil)
  for (const node of nodes) node.habits = { ...node.habits, standsAt }
  for (let waited = 0; waited < waits; waited += 1) {
    if (waited < blocks) await anvil.rpc('evm_mine')
    await wait(environment, fees, run)
  }
  for (const node of nodes) {
    const { standsAt: _, ...habits } = node.habits ?? {}
    node.habits = habits
  }
}

/** What nodes tell of tips, where they are this many times the true ones. */
export function tellTips(fees: Fees): NonNullable<Habits['lie']> {
  return ({ method }: WireEntry, reply: WireEntry) => {
    const { result } = reply
    if (fees.tipFactor === 1 || result === undefined || result === null) return reply
    const times = (price: string) => `0x${(BigInt(price) * BigInt(fees.tipFactor)).toString(16)}`
    if (method === 'eth_gasPrice' || method === 'eth_maxPriorityFeePerGas')
      return { ...reply, result: times(result as string) }
    if (method !== 'eth_feeHistory') return reply
    const { reward, ...history } = result as { reward?: readonly (readonly string[])[] | null }
    return { ...reply, result: { ...history, reward: reward?.map((row) => row.map(times)) } }
  }
}
