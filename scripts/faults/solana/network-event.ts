import { setTimeout as pause } from 'node:timers/promises'
import type { TestSolana, TestSolanaNode } from '../../../simulators/solana/start-solana.ts'
import type { HistoryRun } from '../history-run.ts'
import { accountAt, addressesOf, type Environment, fund, setBalance } from './environment.ts'
import { type Event, EXPIRY_BLOCKS, type LedgerChange } from './event.ts'

/** What is left of a drained account beyond what must stay on it: a single fee, in lamports. What it moves then fails. */
const ONE_FEE = 5_000n

/** Many blocks come so many at a time, and the service gets a moment between them, in ms. */
const AT_ONCE = 10
const MOMENT_MS = 4

/** What happens to the network, what waits for it and the accounts, and not through the service. */
export type NetworkEvent = Extract<
  Event,
  {
    is:
      | 'blocks'
      | 'empty'
      | 'skip'
      | 'capacity'
      | 'price'
      | 'fork'
      | 'drop_pending'
      | 'ledger'
      | 'relaunch'
      | 'drain'
      | 'fund'
  }
>

/** Lets it happen. */
export async function networkEvent(
  environment: Environment,
  run: HistoryRun,
  event: NetworkEvent,
): Promise<void> {
  const { solana } = environment
  switch (event.is) {
    case 'blocks':
      return void solana.tick(event.blocks)
    case 'empty':
      return tickEmpty(solana, event.blocks)
    case 'skip':
      return solana.skip(event.slots)
    case 'capacity':
      solana.market.capacity = event.transactions
      return
    case 'price':
      solana.market.requiredPrice = BigInt(event.required)
      solana.market.recentPrice = BigInt(event.told)
      return
    case 'fork':
      return void solana.fork(Math.min(event.depth, openBlocks(solana)))
    case 'drop_pending':
      return solana.dropPending()
    case 'ledger': {
      const node = environment.own[event.node]
      return node && changeLedger(node, event.change)
    }
    case 'relaunch':
      return relaunch(environment, run, event)
    case 'drain':
      for (const own of addressesOf(accountAt(event.account)))
        setBalance(solana, own, solana.rentExemption(0) + ONE_FEE)
      return
    case 'fund':
      return fund(environment, event.account)
  }
}

/** The service sees nothing of it before the node is back. */
async function relaunch(
  { solana, own }: Environment,
  { setConditions }: HistoryRun,
  { node, blocks, maker }: Extract<Event, { is: 'relaunch' }>,
): Promise<void> {
  setConditions('dead')
  solana.tick(blocks + openBlocks(solana))
  // The node was there until the blocks began that it lacks.
  own[node]?.jump(blocks, maker)
  setConditions('calm')
  await tickEmpty(solana, EXPIRY_BLOCKS)
}

function changeLedger(node: TestSolanaNode, change: LedgerChange): void {
  const { options } = node
  switch (change.kind) {
    case 'jump':
      node.jump(change.blocks, change.maker)
      return
    case 'prune':
      options.historyBlocks = change.blocks
      return
    case 'history':
      options.keepsHistory = change.kept
      return
    case 'storage':
      options.longTermStorage = change.storage
      return
    case 'fresh':
      options.fresh = change.fresh
      return
    case 'banks':
      options.olderBank = change.older
  }
}

/**
 * Every node is given the whole ledger. A transaction of which no node can say any more what became of it stays open until someone
 * attaches one that can.
 */
export function restoreLedgers({ own }: Environment): void {
  for (const node of own) node.restore()
}

/** How many blocks are not final. */
export function openBlocks({ blocks, finalizedSlot }: TestSolana): number {
  const final = finalizedSlot()
  return blocks.length - 1 - blocks.findLastIndex(({ slot }) => slot <= final)
}

async function tickEmpty(solana: TestSolana, blocks: number): Promise<void> {
  const { capacity } = solana.market
  solana.market.capacity = 0
  for (let left = blocks; left > 0; left -= AT_ONCE) {
    solana.tick(Math.min(left, AT_ONCE))
    await pause(MOMENT_MS)
  }
  solana.market.capacity = capacity
}
