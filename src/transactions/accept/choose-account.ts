import type { ChainRequest } from '../../chains/request.ts'
import { AppError, type ErrorCode } from '../../errors.ts'
import { fingerprintOf } from '../../lib/hash.ts'
import { type AccountLoad, findLaneAccount, findLoads } from '../../relayers/accounts/pool-store.ts'
import { inactive } from '../../relayers/policies/policy.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import { ACCOUNT_LEAVES, LANE_MOVED } from './admit.ts'

/** The requests for which an account is chosen. */
export interface ChoiceOf {
  readonly requests: readonly ChainRequest[]
  readonly lane: string | undefined
}

/** Chooses accounts of relayers. */
export interface AccountChooser {
  /**
   * Runs work with the account that suits best, and with the next one while the work finds that one without
   * money or leaving. A lane keeps the account of its open transactions, and a request of Solana that names
   * an account as a signer goes to it. A relayer with one account is that account.
   */
  withAccount<T>(relayer: Relayer, choice: ChoiceOf, work: (account: Relayer) => Promise<T>): Promise<T>
}

/**
 * An account that was found without money is tried last for this time, in ms: its balance was compared with
 * one request only.
 */
const EMPTY_MS = 10_000

/** Creates the chooser of this process. */
export function createAccountChooser(context: TransactionsContext): AccountChooser {
  /**
   * Requests that chose an account and are not stored yet, by account: those of one moment would all choose
   * the same one.
   */
  const choices = new Map<string, number>()
  /** Until when accounts count as empty, in ms of the monotonic clock. */
  const emptyUntil = new Map<string, number>()

  function rank(loads: readonly AccountLoad[], lane: string | undefined): string[] {
    const now = context.clock.monotonic()
    const scores = new Map(
      loads.map(({ id, open }) => {
        const isEmpty = (emptyUntil.get(id) ?? 0) > now
        return [id, { isEmpty, load: open + (choices.get(id) ?? 0) }] as const
      }),
    )
    const order = lane === undefined ? byLoad : byLane(lane)
    return [...scores]
      .toSorted((one, other) => Number(one[1].isEmpty) - Number(other[1].isEmpty) || order(one, other))
      .map(([id]) => id)
  }

  async function tryAll<T>(
    relayer: Relayer,
    { lane, requests }: ChoiceOf,
    work: (account: Relayer) => Promise<T>,
  ): Promise<T> {
    const { chain } = context.runtimeOf(relayer)
    const owner = lane && (await findLaneAccount(context.db, { poolId: relayer.id, lane }))
    const loads = owner ? [] : await findLoads(context.db, relayer.id)
    // From here to the choice nothing is awaited, so that the next request sees it.
    const usable = loads.filter(({ isUsable }) => isUsable)
    const fitting = usable.filter(({ address }) => {
      const account = { address, policies: relayer.policies }
      return requests.every((request) => chain.check(request, account) === undefined)
    })
    let refusal: unknown
    for (const id of owner ? [owner] : rank(fitting.length > 0 ? fitting : usable, lane)) {
      choices.set(id, (choices.get(id) ?? 0) + 1)
      try {
        const account = id === relayer.id ? relayer : await context.relayerOf(id)
        if (account?.draining === true) throw ACCOUNT_LEAVES
        if (account !== undefined) return await work(account)
      } catch (error) {
        if (isEmptyAccount(error)) emptyUntil.set(id, context.clock.monotonic() + EMPTY_MS)
        else if (!isUnusableAccount(error)) throw error
        refusal ??= error
      } finally {
        const left = (choices.get(id) ?? 1) - 1
        if (left > 0) choices.set(id, left)
        else choices.delete(id)
      }
    }
    // Since it was found, its last transaction has ended and its account has left.
    if (owner && refusal === undefined) throw LANE_MOVED
    throw refusal ?? inactive(relayer) ?? noAccount(relayer)
  }

  return {
    withAccount: async (relayer, choice, work) => {
      if (relayer.accounts === undefined) return work(relayer)
      if (relayer.paused) throw inactive(relayer)
      for (let tries = 1; ; tries += 1) {
        try {
          return await tryAll(relayer, choice, work)
        } catch (error) {
          if (error === ACCOUNT_LEAVES)
            throw choice.lane === undefined ? noAccount(relayer) : laneLeaves(context, relayer, choice.lane)
          if (error !== LANE_MOVED || tries >= MAX_TRIES) throw error
        }
      }
    },
  }
}

/** Each try fails only because another request has given the lane an account in the meantime. */
const MAX_TRIES = 20

interface Score {
  readonly load: number
}

function byLoad([, one]: readonly [string, Score], [, other]: readonly [string, Score]): number {
  return one.load - other.load
}

/**
 * Rendezvous hashing: processes agree without a word, and an account that joins or leaves moves its own lanes
 * only.
 */
function byLane(lane: string) {
  return ([one]: readonly [string, Score], [other]: readonly [string, Score]): number => {
    const [first, second] = [weightOf(lane, one), weightOf(lane, other)]
    return first < second ? 1 : -1
  }
}

function weightOf(lane: string, accountId: string): string {
  return fingerprintOf([lane, accountId])
}

function isEmptyAccount(error: unknown): boolean {
  return error instanceof AppError && error.code === 'insufficient_balance'
}

/** It stopped accepting work after it was chosen, or too much waits for it. */
function isUnusableAccount(error: unknown): boolean {
  return error === ACCOUNT_LEAVES || (error instanceof AppError && PASSED_ON.has(error.code))
}

const PASSED_ON: ReadonlySet<ErrorCode> = new Set(['rate_limited', 'relayer_disabled', 'relayer_not_found'])

function noAccount({ id }: Relayer): AppError {
  return new AppError(
    'relayer_disabled',
    `No account of relayer ${id} accepts new work; GET /api/v1/relayers/${id} says why.`,
  )
}

/** Another account would break the order of the lane, and its own takes no new work. */
function laneLeaves({ runtimeOf }: TransactionsContext, relayer: Relayer, lane: string): AppError {
  const retryAfterSeconds = Math.ceil(Math.max(1, runtimeOf(relayer).network.averageBlocktimeMs / 1_000))
  return new AppError(
    'rate_limited',
    `body.lane: the account of lane "${lane}" leaves relayer ${relayer.id}. Nothing was stored; try again when the open transactions of the lane are final.`,
    { retryAfterSeconds },
  )
}
