import type { FaultyNode } from '../../test/support/faulty-node.ts'
import type { Random } from '../../test/support/random.ts'
import type { ServiceOptions, Transaction } from '../../test/support/service.ts'
import type { Evidence } from './check-promises.ts'
import type { Troubles } from './common-event.ts'
import type { Action } from './step.ts'
import type { TestBed } from './test-bed.ts'

/** A chain with unreliable nodes in front of it, and all that histories have to know of its kind. */
export interface TestChain {
  readonly nodes: readonly FaultyNode[]
  /** The configuration of the service that works on it. */
  readonly service: Omit<ServiceOptions, 'dataDir' | 'databaseUrl'>
  /** The relayers; steps name them by their place. */
  readonly relayers: readonly string[]
  /** What may never stand in a log. */
  readonly secrets: readonly string[]
  /** How nodes can be behind: by this many blocks at most; and whether they can be on blocks that were undone. */
  readonly sky: { readonly maxLag: number; readonly forks: boolean }
  /** Blocks after which nothing before them can be undone. */
  readonly depth: number
  /** How much time passes from one block to the next while a history is brought to its end, in ms. */
  readonly blockMs: number
  /** The longest that anything may stand when a history is brought to its end, in ms. Default: longer than any wait of the service. */
  readonly standsMs?: number
  /**
   * The time after which every record has to say again what the chain says, in ms, where the chain takes back what was final. Nothing of the
   * kind happens if absent.
   */
  readonly trueAgainMs?: number
  /** How many times faster than for us time passes for the service while a history is played. */
  readonly haste: number
  readonly crash: CrashKit
  /** Draws what happens next. */
  draw(random: Random, troubles: Troubles): Action
  /** Makes a block of what waits. */
  makeBlock(): Promise<void>
  /** Ends everything that keeps transactions out of blocks: money for all accounts, and room for all. */
  relieve(): Promise<void>
  /** Remembers where the chain stands. */
  chainRecord(testBed: TestBed): Promise<ChainRecord>
  /** What has to work when all histories are over; gives what does not. */
  finish(testBed: TestBed): Promise<string[]>
  stop(): Promise<void>
}

/** A transaction that the chain includes. */
export interface Included {
  /** Of the bytes of the service; those of a third party may hold the same content. */
  readonly hash: string
  /** Under which the chain holds it, where a third party has sent it. */
  readonly appliedHash?: string
  /** Whose nonce it took. */
  readonly sourceAccount: string
  readonly nonce: bigint
  /** The mark of its content, where it has one. */
  readonly mark: string | undefined
  readonly success: boolean
}

/** What a chain can tell of the time since a certain moment. */
export interface ChainRecord {
  /** What the blocks since hold of each relayer, in the order of the chain. */
  walk(): Promise<readonly (readonly Included[])[]>
  /** How a record differs from what the chain holds of it. */
  differences(record: Transaction, shown: Included): string[]
  /** What only chains of this kind promise, and what is not so; of all relayers. */
  problems(evidence: readonly Evidence[]): Promise<string[]>
}

/** The words that crashes need. */
export interface CrashKit {
  /** The node's call that takes signed bytes, and the one that tells what became of them. */
  readonly broadcastCall: string
  readonly receiptCall: string
  readonly send: Action
  /** Of the newest transaction. */
  readonly replace: Action
  readonly cancel: Action
}
