import { invalidParams } from '../../json-rpc.ts'
import { ageOf, lifetimeOf } from '../chain/age.ts'
import type { Node } from '../node.ts'
import { feeOf } from '../runtime/fees.ts'
import { readMessage } from '../runtime/transaction.ts'
import { addressParam, contextParam, listParam, type Params, stringParam, withContext } from './params.ts'
import { decodeBytes, deserialize } from './wire.ts'

/** Blocks whose fees a node remembers (agave runtime/src/prioritization_fee_cache.rs `MAX_NUM_RECENT_BLOCKS`). */
const MAX_FEE_BLOCKS = 150

/** Most addresses of one call (agave `MAX_TX_ACCOUNT_LOCKS`). */
const MAX_ADDRESSES = 128

/** Blocks whose hashes a node can still price (clock `MAX_RECENT_BLOCKHASHES`). */
const MAX_RECENT_BLOCKHASHES = 300

const MESSAGE = 'solana_message::versions::VersionedMessage'

/** Lamports that this message, in base64, would cost; null when its blockhash is unknown (agave `get_fee_for_message`). */
export function getFeeForMessage(node: Node, [text, config]: Params): unknown {
  const bytes = decodeBytes(stringParam(text), 'base64', MESSAGE)
  const message = deserialize(MESSAGE, () => readMessage(bytes))
  const commitment = contextParam(node, config)
  const standpoint = node.standpoint(commitment)
  const age = ageOf(message.blockhash, standpoint)
  const isKnown = (age !== undefined && age < MAX_RECENT_BLOCKHASHES) || lifetimeOf(message, standpoint)
  return withContext(node, commitment, isKnown ? feeOf(message) : null)
}

/** Returns the prices of the newest blocks, block by block; the test sets them. */
export function getRecentPrioritizationFees(node: Node, [addresses]: Params): unknown {
  const asked = addresses === undefined || addresses === null ? [] : listParam(addresses, addressParam)
  if (asked.length > MAX_ADDRESSES) throw invalidParams(`Too many inputs provided; max ${MAX_ADDRESSES}`)
  const newest = node.index('processed')
  const recent = node.chain.blocks.all().slice(Math.max(0, newest + 1 - MAX_FEE_BLOCKS), newest + 1)
  return recent.map(({ slot, prioritizationFee }) => ({ prioritizationFee, slot }))
}
