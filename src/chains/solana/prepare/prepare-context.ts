import type { Answer } from '../../answer.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import type { SimulationRefusals } from '../../simulation-refusals.ts'
import type { PolicySubject } from '../check/policies.ts'
import type { SolanaRequest } from '../content.ts'
import type { Timeouts } from '../timeouts.ts'
import type { SolanaAccount } from '../types.ts'
import type { Lifetime } from './blockhash.ts'

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
