import { ageOf, lastValidBlockHeight } from '../chain/age.ts'
import type { Node } from '../node.ts'
import { MAX_PROCESSING_AGE } from '../runtime/limits.ts'
import { contextParam, type Params, stringParam, withContext } from './params.ts'

/** The blockhash of the newest block, and the last height at which it is valid. */
export function getLatestBlockhash(node: Node, [config]: Params): unknown {
  const commitment = contextParam(node, config)
  const { blockhash } = node.block(commitment)
  return withContext(node, commitment, {
    blockhash,
    lastValidBlockHeight: lastValidBlockHeight(blockhash, node.standpoint(commitment)),
  })
}

/** Returns true when the network would still accept a transaction with this blockhash. */
export function isBlockhashValid(node: Node, [blockhash, config]: Params): unknown {
  const commitment = contextParam(node, config)
  const age = ageOf(stringParam(blockhash), node.standpoint(commitment))
  return withContext(node, commitment, age !== undefined && age <= MAX_PROCESSING_AGE)
}
