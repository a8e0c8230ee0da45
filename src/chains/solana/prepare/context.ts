import { randomInt } from 'node:crypto'
import type { Answer } from '../../answer.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import type { SimulationRefusals } from '../../simulations.ts'
import type { BlockHeight, SolanaRequest } from '../content.ts'
import type { PolicySubject } from '../policies.ts'
import type { Timeouts } from '../read/replies.ts'
import type { SolanaAccount } from '../types.ts'
import { MAX_LOADED_BYTES } from './fees.ts'

/** The tools with which content is prepared. */
export interface PrepareContext {
  readonly client: PooledClient
  readonly blockhash: () => Promise<Answer<Lifetime>>
  readonly timeouts: Timeouts
  readonly simulations: SimulationRefusals
  /** Returns another number each time; see `createLoadedBytes`. */
  readonly loadedBytes: () => number
}

/** A request with everything that is known about it before its simulation. */
export interface Case {
  readonly subject: PolicySubject
  readonly request: SolanaRequest
  readonly policies: SolanaAccount['policies']
  /** The relayer may be more than the payer of the fee. */
  readonly spends: boolean
  readonly nonceAccount?: string
}

/** A blockhash, and the first height whose block does not accept it any more. */
export interface Lifetime {
  readonly blockhash: string
  readonly expiresAt: BlockHeight
}

/** The number of different limits. All of them are far above the bytes that a transaction loads. */
const VARIANTS = 2 ** 22

/**
 * Creates a source of numbers that make transactions different. Two requests with the same content are two
 * transactions, but Solana treats the same bytes as one. The limit of bytes that a transaction may load
 * distinguishes them: it is just below the maximum, different each time, and free of charge. One process uses
 * all numbers before one repeats, and starts at a random one, because another process may have just ended.
 */
export function createLoadedBytes(): () => number {
  let next = randomInt(VARIANTS)
  return () => {
    next = (next + 1) % VARIANTS
    return MAX_LOADED_BYTES - next
  }
}
