import { type Hex, hexToBigInt, size, slice } from 'viem'
import { NodeError, type Rpc, Unavailable } from '../../../shared/host.ts'
import type { Elsewhere, Outcome, OwnTransaction } from '../../scheme.ts'
import { evmElsewhere, receiptOf, transfersIn } from '../outcome.ts'
import { type Call, isSame } from '../payment.ts'
import { type CallResult, simulateCalls } from '../simulate-calls.ts'
import {
  type ChannelState,
  claimCall,
  claimedIn,
  paymentOf,
  receiverCall,
  snapshotOf,
  stateCalls,
  stateIn,
} from './chain.ts'
import { CHANNELS, NO_ADDRESS } from './channel.ts'
import type { Operation } from './operation.ts'

type Made = Exclude<Operation, { readonly kind: 'voucher' }>

/** What a receiver has claimed in a token when he asks for it: a settlement gives him all of that. */
export async function readTarget(
  { receiver, token }: { receiver: Hex; token: Hex },
  rpc: Rpc,
): Promise<bigint> {
  const [claimed] = receiverIn(await readAt([receiverCall(receiver, token)], 'latest', rpc))
  if (claimed === undefined) throw new Unavailable('The receiver cannot be read.')
  return claimed
}

/** What a transaction of the relayer did. */
export interface Effect {
  readonly outcome: Outcome
  /** What it moved, in the smallest unit of the token; empty for a claim, which moves nothing. */
  readonly amount: string
  /** The channel after it; undefined where there is not one. */
  readonly channelState: object | undefined
  /** The payer of the channel; undefined where there is not one. */
  readonly payer: string | undefined
}

/**
 * Reads from the receipt, and from the state as of its block, what a transaction of the relayer did. What the
 * state does not show yet is unknown: the node may be behind. `target` is what a settlement had to give.
 */
export async function operationEffect(
  operation: Made,
  { hash, target }: { readonly hash: string; readonly target: bigint },
  rpc: Rpc,
): Promise<Effect> {
  const nothing = { amount: '', channelState: undefined, payer: undefined }
  const receipt = await receiptOf(hash, rpc)
  if (receipt === undefined || !(receipt.status === '0x1' || receipt.status === '0x0'))
    return { outcome: 'unknown', ...nothing }
  if (receipt.status === '0x0') return { outcome: 'failed', ...nothing }
  const { blockNumber, logs } = receipt
  const state = async (channelId: Hex) => stateIn(await readAt(stateCalls(channelId), blockNumber, rpc))
  switch (operation.kind) {
    case 'deposit': {
      const { channel, channelId } = operation.vouched
      const { amount } = operation.deposit
      const moves = transfersIn(channel.token, logs).filter(({ value }) => value === amount)
      const isPaid =
        moves.some(({ from }) => isSame(from, channel.payer)) && moves.some(({ to }) => isSame(to, CHANNELS))
      if (!isPaid) return { outcome: 'failed', ...nothing }
      return told(await state(channelId), { channelId, amount, payer: channel.payer })
    }
    case 'claim': {
      const { claims } = operation
      const found = await readAt(claims.map(claimCall), blockNumber, rpc)
      const isClaimed = claims.every(({ claimed }, index) => (claimedIn(found[index]) ?? -1n) >= claimed)
      return { outcome: isClaimed ? 'paid' : 'unknown', ...nothing }
    }
    case 'settle': {
      const { receiver, token } = operation
      const [, settled = -1n] = receiverIn(await readAt([receiverCall(receiver, token)], blockNumber, rpc))
      const amount = movedTo(receiver, transfersIn(token, logs))
      return { ...nothing, outcome: settled >= target ? 'paid' : 'unknown', amount: amount.toString() }
    }
    case 'refund': {
      const { channel, channelId, nonce } = operation
      const amount = movedTo(channel.payer, transfersIn(channel.token, logs))
      const found = await state(channelId)
      if (found === undefined || found.refundNonce <= nonce) return { outcome: 'unknown', ...nothing }
      // The nonce is used up also where nothing was left to give back.
      if (amount === 0n) return { outcome: 'failed', ...nothing }
      return told(found, { channelId, amount, payer: channel.payer })
    }
  }
}

function told(
  state: ChannelState | undefined,
  { channelId, amount, payer }: { readonly channelId: Hex; readonly amount: bigint; readonly payer: Hex },
): Effect {
  const channelState = state && snapshotOf(channelId, state)
  return { outcome: state ? 'paid' : 'unknown', amount: amount.toString(), channelState, payer }
}

function movedTo(to: Hex, transfers: ReturnType<typeof transfersIn>): bigint {
  return transfers
    .filter((each) => isSame(each.from, CHANNELS) && isSame(each.to, to))
    .reduce((sum, { value }) => sum + value, 0n)
}

/**
 * Finds out if somebody else did it, where that can be told: a deposit is used once. Claims, settlements and
 * refunds that others made are asked for anew.
 */
export function operationElsewhere(operation: Made, own: OwnTransaction, rpc: Rpc): Promise<Elsewhere> {
  return operation.kind === 'deposit'
    ? evmElsewhere(paymentOf(operation), own, rpc)
    : Promise.resolve({ kind: 'unpaid' })
}

/** What a receiver has claimed, and got of it. */
function receiverIn([result]: readonly CallResult[]): readonly [bigint?, bigint?] {
  if (result?.ok !== true || size(result.data) !== 64) return []
  return [hexToBigInt(slice(result.data, 0, 32)), hexToBigInt(slice(result.data, 32, 64))]
}

/** Reads as of a block. A node that has forgotten the state of an old block tells the newest. */
async function readAt(calls: readonly Call[], block: string, rpc: Rpc): Promise<readonly CallResult[]> {
  try {
    return await simulateCalls(rpc, NO_ADDRESS, calls, block)
  } catch (error) {
    if (!(error instanceof NodeError) || block === 'latest') throw error
    const newest = await rpc<Hex>('eth_blockNumber', [])
    if (hexToBigInt(newest) < BigInt(block)) throw new Unavailable('No node has the state of the block yet.')
    return simulateCalls(rpc, NO_ADDRESS, calls)
  }
}
