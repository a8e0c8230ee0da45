import { invalidParams, RpcFault } from '../../json-rpc.ts'
import type { Block } from '../chain/block.ts'
import type { Commitment, Node } from '../node.ts'
import {
  BLOCK_CLEANED_UP,
  BLOCK_NOT_AVAILABLE,
  type Config,
  commitmentParam,
  configParam,
  numberParam,
  type Params,
  SLOT_SKIPPED,
  signatureParam,
} from './params.ts'
import { noHistory } from './statuses.ts'
import { writeApplied } from './transaction-json.ts'

/** The transaction with what it did; null when no block that is sure enough, and not forgotten, holds it. */
export function getTransaction(node: Node, [signature, options]: Params): unknown {
  if (!node.keepsHistory) throw noHistory()
  const config = transactionConfig(options)
  const commitment = ledgerCommitment(config)
  const found = node.find(signatureParam(signature))
  const known =
    found &&
    found.index <= node.index(commitment) &&
    node.tellsOf(node.chain.blocks.near(found.index), 'signatures')
  if (!known) return null
  const { slot } = found.applied
  return { slot, blockTime: node.chain.blocks.near(found.index).time, ...writeApplied(found.applied, config) }
}

/** The block of a slot. */
export function getBlock(node: Node, [number, options]: Params): unknown {
  if (!node.keepsHistory) throw noHistory()
  const config = transactionConfig(options)
  const slot = BigInt(numberParam(number) ?? -1)
  const block = blockAt(node, slot, ledgerCommitment(config))
  if (block === undefined) return null
  const { height, blockhash, parentBlockhash, parentSlot, time, transactions } = block
  const { transactionDetails = 'full', rewards } = config
  return {
    blockHeight: height,
    blockTime: time,
    blockhash,
    parentSlot,
    previousBlockhash: parentBlockhash,
    ...(rewards === false ? {} : { rewards: [] }),
    ...(transactionDetails === 'full'
      ? { transactions: transactions.map((applied) => writeApplied(applied, config)) }
      : {}),
    ...(transactionDetails === 'signatures'
      ? { signatures: transactions.map(({ signature }) => signature) }
      : {}),
  }
}

/** Undefined if the ledger has the block, and not what is in it (blockstore.rs `MissingTransactionMetadata`). */
function blockAt(node: Node, slot: bigint, commitment: Commitment): Block | undefined {
  const { chain, oldest } = node
  const newest = node.block(commitment)
  if (slot > newest.slot) throw new RpcFault(BLOCK_NOT_AVAILABLE, `Block not available for slot ${slot}`)
  const found = chain.blocks.indexOfSlot(slot)
  const block = found === undefined ? undefined : chain.blocks.near(found)
  if (block !== undefined && node.tellsOf(block, 'blocks')) return block
  if (block !== undefined && node.lacksContent(block)) return undefined
  if (slot < oldest().slot) {
    const message = `Block ${slot} cleaned up, does not exist on node. First available block: ${oldest().slot}`
    throw new RpcFault(BLOCK_CLEANED_UP, message)
  }
  const message = `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`
  throw new RpcFault(SLOT_SKIPPED, message)
}

/** Most slots between the first and the last of one question (agave `MAX_GET_CONFIRMED_BLOCKS_RANGE`). */
const MAX_BLOCKS_RANGE = 500_000n

/**
 * The slots with a finalized block between two, both included. What begins below the node's own ledger is answered by its
 * long-term storage alone, where it has one, and else by what it has (agave rpc.rs `get_blocks`).
 */
export function getBlocks(node: Node, [first, last, options]: Params): unknown {
  const from = BigInt(numberParam(first) ?? -1)
  if (commitmentParam(configParam(options).commitment) !== 'finalized')
    throw invalidParams('only finalized blocks are told here')
  const newest = node.block('finalized').slot
  const asked = BigInt(numberParam(last) ?? Number(from + MAX_BLOCKS_RANGE))
  const to = asked < newest ? asked : newest
  if (to < from) return []
  if (to - from > MAX_BLOCKS_RANGE) throw invalidParams(`Slot range too large; max ${MAX_BLOCKS_RANGE}`)
  if (from >= node.oldest().slot || node.longTermStorage === 'none')
    return node.rooted(from, to).map(({ slot }) => slot)
  if (node.stores('blocks')) return node.chain.blocks.between(from, to).map(({ slot }) => slot)
  throw invalidParams('BigTable query failed (maybe timeout due to too large range?)')
}

/** These two methods take the encoding alone in place of an object, too. */
function transactionConfig(options: unknown): Config {
  return configParam(typeof options === 'string' ? { encoding: options } : options)
}

/** A block that is only processed may be missing in the ledger (agave rpc.rs `check_is_at_least_confirmed`). */
function ledgerCommitment(config: Config): Commitment {
  const commitment = commitmentParam(config.commitment)
  if (commitment !== 'processed') return commitment
  throw invalidParams('Method does not support commitment below `confirmed`')
}
