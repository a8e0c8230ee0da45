import { invalidParams } from '../../json-rpc.ts'
import type { Block } from '../chain/block.ts'
import type { Node } from '../node.ts'
import {
  addressParam,
  commitmentParam,
  configParam,
  numberParam,
  type Params,
  signatureParam,
} from './params.ts'
import { noHistory } from './statuses.ts'

/** Most signatures of one call (agave rpc-client-api `MAX_GET_CONFIRMED_SIGNATURES_FOR_ADDRESS2_LIMIT`). */
const MAX_LISTED = 1_000

/**
 * Lists the transactions that name the address, newest first. After a `before` that the node does not know comes nothing, and an unknown `until`
 * ends nothing (agave ledger/src/blockstore.rs `get_confirmed_signatures_for_address2`).
 */
export function getSignaturesForAddress(node: Node, [of, options]: Params): unknown {
  if (!node.keepsHistory) throw noHistory()
  const config = configParam(options)
  const commitment = commitmentParam(config.commitment)
  if (commitment === 'processed') throw invalidParams('Method does not support commitment below `confirmed`')
  const limit = numberParam(config.limit) ?? MAX_LISTED
  if (limit < 1 || limit > MAX_LISTED) throw invalidParams(`Invalid limit; max ${MAX_LISTED}`)
  const named = namedBy(node, addressParam(of), node.index(commitment))
  const from = positionAfter(named, config.before)
  if (from === undefined) return []
  const end = named.findIndex(({ signature }) => signature === config.until)
  return named.slice(from, end === -1 ? undefined : end).slice(0, limit)
}

function positionAfter(named: readonly { signature: string }[], before: unknown): number | undefined {
  if (before === undefined || before === null) return 0
  const position = named.findIndex(({ signature }) => signature === signatureParam(before))
  return position === -1 ? undefined : position + 1
}

function namedBy(node: Node, address: string, newest: number) {
  const { blocks } = node.chain
  const listed: { signature: string; slot: bigint; err: unknown; memo: null; [more: string]: unknown }[] = []
  for (let index = newest; index >= 0; index -= 1) {
    const block: Block = blocks.near(index)
    if (block.transactions.length === 0 || !node.tellsOf(block, 'signatures')) continue
    const isFinal = index <= node.index('finalized')
    for (const { signature, slot, err, keys } of block.transactions.toReversed()) {
      if (!keys.some((key) => key === address)) continue
      const confirmationStatus = isFinal ? 'finalized' : 'confirmed'
      listed.push({ signature, slot, err, memo: null, blockTime: block.time, confirmationStatus })
    }
  }
  return listed
}
