import type { Hex } from 'viem'
import { decodeFunctionResult, encodeFunctionData, isHex, parseAbi, size } from 'viem/utils'
import type { Answer } from '../../answer.ts'
import type { PooledClient, RpcCall, RpcClient, RpcReply } from '../../rpc/rpc.ts'
import type { EvmDraft, EvmRequest } from '../content.ts'
import { isPrice, readPrice } from '../read/quantity.ts'
import { serializeUnsigned } from '../sign.ts'
import type { PriceFloor } from './fees.ts'
import { gasCallOf } from './gas.ts'

/** The contract of the OP stack that returns the fees besides gas (`GasPriceOracle` of its specification, a predeploy). */
const ORACLE = '0x420000000000000000000000000000000000000F'

const ORACLE_ABI = parseAbi([
  'function getL1Fee(bytes data) view returns (uint256)',
  'function getOperatorFee(uint256 gasUsed) view returns (uint256)',
])

/**
 * The fee for the parent chain follows its market until the transaction is included, so the service expects this much of it, in percent. With
 * less, a sequencer refuses a transaction that spends the whole balance; with more, money is reserved for nothing.
 */
const L1_MARGIN_PERCENT = 150n

/** Represents an unknown nonce, with as many bytes as a high one. */
const SOME_NONCE = 0xffffffffn

/**
 * Reads the maximum fee of the OP stack besides gas, in wei: for the data on the parent chain, and for the operator (since Isthmus). Zero
 * where the network has no such contract or function.
 */
export async function readRollupFee(
  client: Pick<RpcClient, 'send'>,
  draft: EvmDraft,
  chainId: number,
): Promise<Answer<bigint>> {
  const data = serializeUnsigned(draft, SOME_NONCE, chainId)
  const [l1Reply, operatorReply] = await client.send([
    oracleCall(encodeFunctionData({ abi: ORACLE_ABI, functionName: 'getL1Fee', args: [data] })),
    oracleCall(
      encodeFunctionData({ abi: ORACLE_ABI, functionName: 'getOperatorFee', args: [draft.gasLimit] }),
    ),
  ])
  const [l1Fee, operatorFee] = [readFee(l1Reply, 'getL1Fee'), readFee(operatorReply, 'getOperatorFee')]
  const fee =
    l1Fee === undefined || operatorFee === undefined
      ? undefined
      : (l1Fee * L1_MARGIN_PERCENT) / 100n + operatorFee
  return fee === undefined || !isPrice(fee)
    ? { kind: 'unknown', detail: 'no endpoint returned the fees of the rollup' }
    : { kind: 'ok', value: fee }
}

function oracleCall(data: Hex): RpcCall {
  return { method: 'eth_call', params: [{ to: ORACLE, data }, 'latest'] }
}

/** An error is the answer of a contract without this function, and no bytes that of an address without code. */
function readFee(
  reply: RpcReply | undefined,
  functionName: 'getL1Fee' | 'getOperatorFee',
): bigint | undefined {
  if (reply === undefined || reply.kind === 'unknown') return undefined
  if (reply.kind === 'error' || !isHex(reply.result) || size(reply.result) !== 32) return 0n
  return decodeFunctionResult({ abi: ORACLE_ABI, functionName, data: reply.result })
}

/** Linea, and Linea Sepolia. */
const CHAIN_IDS: readonly number[] = [59_144, 59_141]

/**
 * Creates the query for the lowest price of a call on Linea; undefined on every other network. Its sequencer requires a tip that grows with
 * the compressed size of the transaction for each unit of gas (`TransactionProfitabilityCalculator` of linea-besu), so a call with much
 * data costs several times the price of the market, and the refusal names no number. `linea_estimateGas` returns the price. If the node
 * does not have the method or does not answer, the market price and the steps after a refusal decide.
 */
export function createLineaQuote(
  client: Pick<PooledClient, 'call'>,
  chainId: number,
): ((request: EvmRequest, from: string) => Promise<PriceFloor | undefined>) | undefined {
  if (!CHAIN_IDS.includes(chainId)) return undefined
  return async (request, from) => {
    const reply = await client.call('linea_estimateGas', [gasCallOf(request, from)])
    return reply.kind === 'result' ? readQuote(reply.result) : undefined
  }
}

function readQuote(result: unknown): PriceFloor | undefined {
  if (typeof result !== 'object' || result === null) return undefined
  const { baseFeePerGas, priorityFeePerGas } = result as Readonly<Record<string, unknown>>
  const tip = readPrice(priorityFeePerGas)
  if (tip === undefined) return undefined
  return { tip, ceiling: (readPrice(baseFeePerGas) ?? 0n) + tip, stated: true }
}
