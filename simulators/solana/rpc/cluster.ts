import { RpcFault } from '../../json-rpc.ts'
import { ageOf, lastValidBlockHeight } from '../chain/age.ts'
import type { Node } from '../node.ts'
import { MAX_PROCESSING_AGE, SLOTS_PER_EPOCH } from '../runtime/limits.ts'
import { API_VERSION, contextParam, NODE_UNHEALTHY, type Params, stringParam, withContext } from './params.ts'

/** The blockhash of the newest block, and the last height at which it is valid. */
export function getLatestBlockhash(node: Node, [config]: Params): unknown {
  const commitment = contextParam(node, config)
  const { blockhash } = node.block(commitment)
  return withContext(node, commitment, {
    blockhash,
    lastValidBlockHeight: lastValidBlockHeight(blockhash, node.standpoint(commitment)),
  })
}

/** Returns true if the network would still accept a transaction with this blockhash. */
export function isBlockhashValid(node: Node, [blockhash, config]: Params): unknown {
  const commitment = contextParam(node, config)
  const age = ageOf(stringParam(blockhash), node.standpoint(commitment))
  return withContext(node, commitment, age !== undefined && age <= MAX_PROCESSING_AGE)
}

/** Slots that a node may be behind and still call itself healthy (agave rpc `DELINQUENT_VALIDATOR_SLOT_DISTANCE`). */
const HEALTHY_SLOT_DISTANCE = 128n

/** `"ok"`, or how many slots it is behind. */
export function getHealth(node: Node): unknown {
  const behind = node.chain.blocks.last().slot - node.block('processed').slot
  if (behind <= HEALTHY_SLOT_DISTANCE) return 'ok'
  throw new RpcFault(NODE_UNHEALTHY, `Node is behind by ${behind} slots`, { numSlotsBehind: behind })
}

/** Returns the version of the software. */
export function getVersion(): unknown {
  return { 'feature-set': 3604001754, 'solana-core': API_VERSION }
}

/** Returns the genesis hash, which identifies the network. */
export function getGenesisHash({ chain }: Node): unknown {
  return chain.genesisHash
}

/** The slot of the newest block. */
export function getSlot(node: Node, [config]: Params): unknown {
  return node.block(contextParam(node, config)).slot
}

/** Returns the number of blocks below the newest. */
export function getBlockHeight(node: Node, [config]: Params): unknown {
  return node.block(contextParam(node, config)).height
}

/** Returns the position of the chain in its epoch. */
export function getEpochInfo(node: Node, [config]: Params): unknown {
  const { slot, height } = node.block(contextParam(node, config))
  return {
    absoluteSlot: slot,
    blockHeight: height,
    epoch: slot / SLOTS_PER_EPOCH,
    slotIndex: slot % SLOTS_PER_EPOCH,
    slotsInEpoch: SLOTS_PER_EPOCH,
    transactionCount: null,
  }
}

/**
 * Returns the oldest block that the node, or its long-term storage, has, whatever holes follow. 0 for a ledger of fewer than two rooted
 * blocks, and where the ledger could not be read.
 */
export function getFirstAvailableBlock(node: Node): unknown {
  if (node.fresh) return 0
  return node.stores('blocks') ? node.chain.blocks.near(0).slot : node.oldest().slot
}

/** The oldest slot of its own ledger, whatever else it can ask (agave rpc.rs `minimum_ledger_slot`). */
export function minimumLedgerSlot(node: Node): unknown {
  return node.oldest().slot
}
