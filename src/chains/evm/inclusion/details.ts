import { isHex, numberToHex } from 'viem/utils'
import { smaller } from '../../../lib/bigint.ts'
import type { Receipt } from '../../answer.ts'
import type { ChainResult, InclusionDetails } from '../../attempt.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import { authorityOf, delegationOf } from '../authorization.ts'
import type { Authorization, EvmDraft } from '../content.ts'
import { readPrice } from '../read/quantity.ts'
import { feeOf } from '../read/reads.ts'

/**
 * Reads what the receipt of an included draft does not say: a missing price, and what did not happen although
 * the transaction succeeded.
 */
export async function readInclusionDetails(
  client: PooledClient,
  draft: EvmDraft,
  receipt: Receipt,
): Promise<InclusionDetails> {
  const [result, unapplied] = await Promise.all([
    pricedResult(client, draft, receipt),
    unappliedAuthorizations(client, draft, receipt.blockNumber),
  ])
  const notes = [...unapplied, ...(receipt.success ? silentTransfer(draft, receipt) : [])]
  return { ...(result && { result }), ...(notes.length > 0 && { note: notes.join(' ') }) }
}

/**
 * Nodes before London, and some others, tell no `effectiveGasPrice`. It follows from the attempt and the base
 * fee of the block (EIP-1559): blocks charge no other price.
 */
async function pricedResult(
  client: PooledClient,
  { fees }: EvmDraft,
  { result, blockHash }: Receipt,
): Promise<ChainResult | undefined> {
  if (result === undefined || result.gasPrice !== undefined) return undefined
  if (fees.kind === 'legacy') return withPrice(result, fees.gasPrice)
  const [reply] = await client.send([{ method: 'eth_getBlockByHash', params: [blockHash, false] }])
  const block = reply?.kind === 'result' ? (reply.result as { baseFeePerGas?: unknown } | null) : undefined
  const baseFee = readPrice(block?.baseFeePerGas)
  if (baseFee === undefined) return undefined
  return withPrice(result, smaller(fees.maxFeePerGas, baseFee + fees.maxPriorityFeePerGas))
}

function withPrice(result: ChainResult, gasPrice: bigint): ChainResult {
  const priced = { ...result, gasPrice }
  const feeCharged = feeOf(priced)
  return feeCharged === undefined ? priced : { ...priced, feeCharged }
}

/**
 * A block includes a transaction although authorizations of its list do not apply (EIP-7702), and its receipt
 * does not say so. The code of the accounts after the block does. The last one for an account decides.
 */
async function unappliedAuthorizations(
  client: PooledClient,
  { authorizationList = [] }: EvmDraft,
  blockNumber: bigint,
): Promise<string[]> {
  const last = new Map<string, { readonly index: number; readonly authorization: Authorization }>()
  for (const [index, authorization] of authorizationList.entries()) {
    const authority = authorityOf(authorization)
    if (authority !== undefined) last.set(authority, { index, authorization })
  }
  const asked = [...last]
  if (asked.length === 0) return []
  const replies = await client.send(
    asked.map(([authority]) => ({ method: 'eth_getCode', params: [authority, numberToHex(blockNumber)] })),
  )
  return asked.flatMap(([authority, { index, authorization }], position) => {
    const reply = replies[position]
    if (reply?.kind !== 'result' || !isHex(reply.result)) return []
    const delegate = delegationOf(reply.result)
    const wanted = BigInt(authorization.address) === 0n ? undefined : authorization.address.toLowerCase()
    if (delegate === wanted) return []
    const now = delegate === undefined ? 'no code of another contract' : `the code of ${delegate}`
    return [`authorization_list[${index}] did not apply: after the block, ${authority} runs ${now}.`]
  })
}

/**
 * The functions of ERC-20 that move tokens: `transfer(address,uint256)` and
 * `transferFrom(address,address,uint256)`.
 */
const TRANSFERS: readonly string[] = ['0xa9059cbb', '0x23b872dd']

/**
 * ERC-20 demands an event for each transfer. Old tokens return false where others revert, and then emit none.
 */
function silentTransfer({ data, to }: EvmDraft, { emittedNothing }: Receipt): string[] {
  if (emittedNothing !== true || !TRANSFERS.includes(data.slice(0, 10).toLowerCase())) return []
  return [
    `${to} emitted no event, so this transfer moved no tokens: it may have returned false instead of reverting.`,
  ]
}
