import { invalidParams, RpcFault } from '../../json-rpc/fault.ts'
import type { Block } from '../chain/block.ts'
import type { Commitment, Node } from '../node.ts'
import { BLOCK_CLEANED_UP, BLOCK_NOT_AVAILABLE, SLOT_SKIPPED } from './codes.ts'
import {
  type Config,
  commitmentParam,
  configParam,
  numberParam,
  type Params,
  signatureParam,
} from './params.ts'
import { writeApplied } from './transaction-json.ts'

/** The transaction with what it did; null when no block that is sure enough, and not forgotten, holds it. */
export function getTransaction(node: Node, [signature, options]: Params): unknown {
  const config = transactionConfig(options)
  const commitment = ledgerCommitment(config)
  const found = node.find(signatureParam(signature))
  if (!found || found.place > node.place(commitment) || !node.remembers(found.applied.slot)) return null
  const { slot } = found.applied
  return { slot, blockTime: node.chain.blocks.near(found.place).time, ...writeApplied(found.applied, config) }
}

/** The block of a slot. */
export function getBlock(node: Node, [number, options]: Params): unknown {
  const config = transactionConfig(options)
  const slot = BigInt(numberParam(number) ?? -1)
  const { height, blockhash, parentBlockhash, parentSlot, time, transactions } = blockAt(
    node,
    slot,
    ledgerCommitment(config),
  )
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

function blockAt({ chain, place, remembers, oldest }: Node, slot: bigint, commitment: Commitment): Block {
  const newest = chain.blocks.near(place(commitment))
  if (slot > newest.slot) throw new RpcFault(BLOCK_NOT_AVAILABLE, `Block not available for slot ${slot}`)
  if (!remembers(slot)) {
    const message = `Block ${slot} cleaned up, does not exist on node. First available block: ${oldest().slot}`
    throw new RpcFault(BLOCK_CLEANED_UP, message)
  }
  const found = chain.blocks.placeOfSlot(slot)
  if (found !== undefined) return chain.blocks.near(found)
  const message = `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`
  throw new RpcFault(SLOT_SKIPPED, message)
}

/** These two methods take the encoding alone in place of an object, too. */
function transactionConfig(options: unknown): Config {
  return configParam(typeof options === 'string' ? { encoding: options } : options)
}

/** What is only processed may stand in no ledger yet (agave rpc.rs `check_is_at_least_confirmed`). */
function ledgerCommitment(config: Config): Commitment {
  const commitment = commitmentParam(config.commitment)
  if (commitment !== 'processed') return commitment
  throw invalidParams('Method does not support commitment below `confirmed`')
}
