import { formatEther, type Hex, parseTransaction } from 'viem'
import type { Habits } from '../../../test/support/faulty-node.ts'
import type { Pruning, WireEntry } from '../../../test/support/forked.ts'
import { headOf } from './chain-walk.ts'
import type { Environment } from './environment.ts'
import type { EndpointBehaviour, Event } from './event.ts'
import { tellTips } from './fee-event.ts'
import { LIES, type Lie } from './lies.ts'

const GWEI = 1_000_000_000n

/** How long an endpoint asks to be left alone, in seconds. */
const REST_SECONDS = 5

/** The endpoint behaves so from now on. */
export async function applyBehaviour(
  { anvil, nodes, fees, unwanted }: Environment,
  { node: index, behaviour, size }: Extract<Event, { is: 'behaviour' }>,
): Promise<void> {
  const node = nodes[index]
  if (node === undefined) return
  node.pruning = pruningOf(behaviour, (await headOf(anvil)) + size)
  const lies = [...(fees ? [tellTips(fees)] : []), ...(behaviour === 'lies' ? [lieOf(size)] : [])]
  const lie: Lie = (call, reply) => lies.reduce((answer, one) => one(call, answer), reply)
  const habits = { ...habitsOf(behaviour, size), ...(lies.length > 0 && { lie }) }
  node.habits = unwanted === undefined ? habits : refusingUnwanted(habits, unwanted)
}

/** Below a height that the chain has yet to reach: so a block is gone before anyone has looked at it, as after a long outage. */
function pruningOf(behaviour: EndpointBehaviour, below: number): Pruning | undefined {
  switch (behaviour) {
    case 'prunes_receipts':
      return { receiptsBelow: below }
    case 'prunes_transactions':
      return { transactionsBelow: below }
    case 'prunes_state':
      return { stateBelow: below }
    case 'prunes_all':
      return { transactionsBelow: below, stateBelow: below }
    case 'indexing':
      return { transactionsBelow: below, indexing: true }
    default:
      return undefined
  }
}

function habitsOf(behaviour: EndpointBehaviour, size: number): Habits | undefined {
  switch (behaviour) {
    case 'rests':
      return { rests: REST_SECONDS }
    case 'desynced':
      return { behind: size, refuse: refuseOf(() => 'transaction type not supported') }
    case 'min_tip':
      return { refuse: refuseOf((offer) => belowMinimum(offer, BigInt(size) * GWEI)) }
    case 'fee_cap':
      return { refuse: refuseOf((offer) => aboveCap(offer, BigInt(size) * 100_000n * GWEI)) }
    case 'refuses_all':
      return { refuse: refuseOf(() => STRANGE_WORDS[0]) }
    default:
      return undefined
  }
}

/** Words that no table of the service has: of Nitro about filtered addresses, of a node that simulates, and of no one yet. */
const STRANGE_WORDS = ['the stars are not right', 'internal error', 'execution reverted: not today'] as const

/** Adds to the habits of a node that it refuses the content with these marks, each in words of its own. */
export function refusingUnwanted(habits: Habits, unwanted: ReadonlySet<string>): Habits {
  const { refuse } = habits
  return {
    ...habits,
    refuse: (call) => {
      const { method, params } = call
      const to = method === 'eth_sendRawTransaction' ? parseTransaction(params?.[0] as Hex).to : undefined
      if (to == null || !unwanted.has(to.toLowerCase())) return refuse?.(call)
      return { code: -32000, message: STRANGE_WORDS[Number(BigInt(to) % BigInt(STRANGE_WORDS.length))] ?? '' }
    },
  }
}

function lieOf(number: number): Lie {
  const [, lie] = LIES[number % LIES.length] ?? []
  if (lie === undefined) throw new Error('there are no lies')
  return lie
}

interface Offer {
  readonly gas: bigint
  /** In wei per gas. */
  readonly ceiling: bigint
  readonly tip: bigint
}

function refuseOf(words: (offer: Offer) => string | undefined): NonNullable<Habits['refuse']> {
  return ({ method, params }: WireEntry) => {
    if (method !== 'eth_sendRawTransaction') return undefined
    const { gas = 0n, gasPrice, maxFeePerGas, maxPriorityFeePerGas } = parseTransaction(params?.[0] as Hex)
    const ceiling = gasPrice ?? maxFeePerGas ?? 0n
    const message = words({ gas, ceiling, tip: gasPrice ?? maxPriorityFeePerGas ?? 0n })
    return message === undefined ? undefined : { code: -32000, message }
  }
}

/** How endpoints with `min_tip` and `fee_cap` refuse a price. */
export const PRICE_REFUSALS = /^transaction underpriced: gas tip cap|^tx fee .* exceeds the configured cap/

/** geth's `--txpool.pricelimit` (`core/txpool/validation.go`). */
function belowMinimum({ tip }: Offer, minimum: bigint): string | undefined {
  if (tip >= minimum) return undefined
  return `transaction underpriced: gas tip cap ${tip}, minimum needed ${minimum}`
}

/** geth's `--rpc.txfeecap` (`internal/ethapi/api.go`), but with more decimals: fees here are small. */
function aboveCap({ gas, ceiling }: Offer, cap: bigint): string | undefined {
  const fee = gas * ceiling
  if (fee <= cap) return undefined
  return `tx fee (${formatEther(fee)} ether) exceeds the configured cap (${formatEther(cap)} ether)`
}
