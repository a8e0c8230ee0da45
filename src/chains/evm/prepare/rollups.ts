import type { Hex } from 'viem'
import { decodeFunctionResult, encodeFunctionData, isHex, parseAbi, size } from 'viem/utils'
import type { EvmNetwork } from '../../../networks/network.ts'
import type { Answer } from '../../answer.ts'
import { ALL_IN_TIME, atHead, headTolerance } from '../../rpc/agreement.ts'
import type { PooledClient, RpcCall, RpcReply } from '../../rpc/rpc.ts'
import { EVM_AGREEMENT } from '../agreement.ts'
import type { EvmDraft, EvmRequest } from '../content.ts'
import { isPrice, readPrice } from '../read/quantity.ts'
import { serializeUnsigned } from '../sign.ts'
import type { PriceFloor } from './fees.ts'
import { gasCallOf } from './gas.ts'

/**
 * The contract of the OP stack that returns the fees besides gas (`GasPriceOracle` of its specification, a
 * predeploy).
 */
const ORACLE = '0x420000000000000000000000000000000000000F'

const ORACLE_ABI = parseAbi([
  'function getL1Fee(bytes data) view returns (uint256)',
  'function getOperatorFee(uint256 gasUsed) view returns (uint256)',
])

/**
 * The fee for the parent chain follows its market until the transaction is included, so the service expects
 * this much of it, in percent. With less, a sequencer refuses a transaction that spends the whole balance;
 * with more, money is reserved for nothing.
 */
const L1_MARGIN_PERCENT = 150n

/** Represents an unknown nonce, with as many bytes as a high one. */
const SOME_NONCE = 0xffffffffn

/**
 * Reads the maximum fee of the OP stack besides gas, in wei: for the data on the parent chain, and for the
 * operator (since Isthmus). Zero where the network has no such contract or function.
 */
export async function readRollupFee(
  client: Pick<PooledClient, 'sendEverywhere'>,
  {
    draft,
    chainId,
    blocktimeMs,
  }: { readonly draft: EvmDraft; readonly chainId: number; readonly blocktimeMs: number },
): Promise<Answer<bigint>> {
  const data = serializeUnsigned(draft, SOME_NONCE, chainId)
  const calls = [
    oracleCall(encodeFunctionData({ abi: ORACLE_ABI, functionName: 'getL1Fee', args: [data] })),
    oracleCall(
      encodeFunctionData({ abi: ORACLE_ABI, functionName: 'getOperatorFee', args: [draft.gasLimit] }),
    ),
  ]
  const told = await client.sendEverywhere(calls, undefined, ALL_IN_TIME)
  const fees = told.map(([l1, operator]) => ({
    head: l1?.head,
    l1Fee: readFee(l1?.reply, 'getL1Fee'),
    operatorFee: readFee(operator?.reply, 'getOperatorFee'),
  }))
  const answered = fees.filter(({ l1Fee, operatorFee }) => l1Fee !== undefined && operatorFee !== undefined)
  const counted = atHead(answered, headTolerance(blocktimeMs))
  const l1Fee = EVM_AGREEMENT['L1 fee'].agreed.of(counted.map((one) => one.l1Fee))
  const operatorFee = EVM_AGREEMENT['operator fee'].agreed.of(counted.map((one) => one.operatorFee))
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

/**
 * An error is the answer of a contract without this function, and no bytes that of an address without code.
 */
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
 * Creates the query for the lowest price of a call on Linea; undefined on every other network. Its sequencer
 * requires a tip that grows with the compressed size of the transaction for each unit of gas
 * (`TransactionProfitabilityCalculator` of linea-besu), so a call with much data costs several times the
 * price of the market, and the refusal names no number. `linea_estimateGas` returns the price. If the node
 * does not have the method or does not answer, the market price and the steps after a refusal decide.
 */
export function createLineaQuote(
  client: Pick<PooledClient, 'sendEverywhere'>,
  { chainId, averageBlocktimeMs }: Pick<EvmNetwork, 'chainId' | 'averageBlocktimeMs'>,
): ((request: EvmRequest, from: string) => Promise<PriceFloor | undefined>) | undefined {
  if (!CHAIN_IDS.includes(chainId)) return undefined
  return async (request, from) => {
    const call = { method: 'linea_estimateGas', params: [gasCallOf(request, from)] }
    const told = (await client.sendEverywhere([call], undefined, ALL_IN_TIME)).flatMap(([answer]) => {
      const quote = answer?.reply.kind === 'result' ? readQuote(answer.reply.result) : undefined
      return quote === undefined ? [] : [{ ...quote, head: answer?.head }]
    })
    const counted = atHead(told, headTolerance(averageBlocktimeMs))
    const rule = EVM_AGREEMENT['price of a call on Linea'].agreed
    const tip = rule.of(counted.map((quote) => quote.tip))
    const baseFee = rule.of(counted.map((quote) => quote.baseFee))
    if (tip === undefined || baseFee === undefined) return undefined
    return { tip, ceiling: baseFee + tip, stated: true }
  }
}

/** The prices of one call, in wei per gas, as one endpoint says them. */
interface Quote {
  readonly tip: bigint
  readonly baseFee: bigint
}

function readQuote(result: unknown): Quote | undefined {
  if (typeof result !== 'object' || result === null) return undefined
  const { baseFeePerGas, priorityFeePerGas } = result as Readonly<Record<string, unknown>>
  const tip = readPrice(priorityFeePerGas)
  return tip === undefined ? undefined : { tip, baseFee: readPrice(baseFeePerGas) ?? 0n }
}
