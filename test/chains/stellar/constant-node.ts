import { createStellarChain } from '../../../src/chains/stellar/stellar-chain.ts'
import type { StellarChain } from '../../../src/chains/stellar/types.ts'
import { createLogger } from '../../../src/log.ts'
import { createHurriedClock } from '../../support/clock.ts'
import { startRpcServer } from '../../support/rpc-server.ts'
import { NETWORK } from './build.ts'

/** A chain whose only node returns the same answer to every call. */
export interface ConstantNode {
  readonly chain: StellarChain
  /** Sets the answer. */
  tell(result: unknown): void
  stop(): Promise<void>
}

export async function startConstantNode(): Promise<ConstantNode> {
  let answer: unknown = null
  const server = await startRpcServer((calls) => {
    const replies = calls.map(({ id }) => ({ jsonrpc: '2.0', id, result: answer }))
    return { body: replies.length === 1 ? replies[0] : replies }
  })
  const chain = createStellarChain({
    network: {
      type: 'stellar',
      ...NETWORK,
      isTestnet: true,
      averageBlocktimeMs: 0,
      requiredConfirmations: 0,
      rpcUrls: [{ url: server.url, weight: 100 }],
    },
    rpcTimeoutMs: 5_000,
    clock: createHurriedClock(),
    log: createLogger({ level: 'silent' }),
  })
  return {
    chain,
    tell: (result) => {
      answer = result
    },
    stop: server.stop,
  }
}
