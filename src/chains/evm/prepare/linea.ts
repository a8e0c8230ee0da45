import type { PooledClient } from '../../rpc/rpc.ts'
import type { EvmRequest } from '../content.ts'
import { readPrice } from '../quantity.ts'
import type { PriceFloor } from './fees.ts'
import { gasCallOf } from './gas.ts'

/** Linea, and Linea Sepolia. */
const CHAIN_IDS: readonly number[] = [59_144, 59_141]

/**
 * Creates the question for the lowest price of a call on Linea; undefined on every other network. Its sequencer demands a tip that grows with the
 * compressed size of the transaction for each unit of gas (`TransactionProfitabilityCalculator` of linea-besu), so a call with much data costs
 * several times the price of the market, and the refusal names no number. `linea_estimateGas` tells the price. A node without the method, and
 * one that does not answer, leave it to the market and to the guesses after a refusal.
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
