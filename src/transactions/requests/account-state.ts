import type { Answer } from '../../chains/answer.ts'
import type { Db } from '../../database/db.ts'
import { type Clock, withTimeout } from '../../lib/time.ts'
import { describeHead, type HeadState } from '../../networks/head-age.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { RelayerRuntime } from '../model/runtime.ts'
import { readAccountState } from '../store/account-state-store.ts'

/**
 * Timeout in ms for questions to the network. With a longer one, callers give up before they get the stored
 * part.
 */
const NETWORK_TIMEOUT_MS = 5_000

/** The state of a relayer's account. Amounts are in the smallest unit of its network. */
export interface AccountState {
  /** The spendable balance; undefined if no endpoint answered. */
  readonly balance: bigint | undefined
  /**
   * The nonce that the next transaction of the account gets, as far as known; undefined on chains without
   * nonces.
   */
  readonly nextNonce: bigint | undefined
  /** The next nonce on the chain; undefined if no endpoint answered, or the account does not exist. */
  readonly chainNonce: bigint | undefined
  readonly open: number
  /** The open transactions that wait for an approval, or for their `valid_from`. */
  readonly deferred: number
  /**
   * When the oldest other open transaction was accepted, or its later `valid_from`; undefined if there is
   * none.
   */
  readonly oldestOpenAt: Date | undefined
  readonly lastConfirmedAt: Date | undefined
  /** The newest head of its network; undefined if no endpoint has told it lately. */
  readonly head: HeadState | undefined
  /** Sentences about the values that could not be read, with the reasons. */
  readonly logs: readonly string[]
}

interface AccountStateDeps {
  readonly db: Db
  readonly clock: Clock
  readonly runtimeOf: (relayer: Relayer) => RelayerRuntime
}

/**
 * Reads the state of an account from the database and the network. Values that the network does not give in
 * time are undefined.
 */
export async function getAccountState(
  { db, clock, runtimeOf }: AccountStateDeps,
  relayer: Relayer,
): Promise<AccountState> {
  const { chain, network } = runtimeOf(relayer)
  const [{ nextNonce, ...stored }, balance, nonce] = await Promise.all([
    readAccountState(db, relayer, new Date(clock.now())),
    fetchBalance(clock, { chain, address: relayer.address }),
    chain.sequencing && answerWithin(clock, firstOf(chain.sequencing.nonces([relayer.address]))),
  ])
  const chainNonce = nonce?.kind === 'ok' ? nonce.value : undefined
  return {
    ...stored,
    balance: balance.kind === 'ok' ? balance.value : undefined,
    chainNonce,
    head: describeHead(network, chain.seenHead(), clock.monotonic()),
    nextNonce: higher(nextNonce, chainNonce),
    logs: [...reason('balance', balance), ...(nonce ? reason('nonce', nonce) : [])],
  }
}

/** Reads the spendable balance; `unknown` when no endpoint answers within a few seconds. */
export function fetchBalance(
  clock: Clock,
  { chain, address }: { readonly chain: RelayerRuntime['chain']; readonly address: string },
): Promise<Answer<bigint>> {
  return answerWithin(clock, chain.balance(address))
}

/**
 * Returns the answer of the network to a caller who waits; `unknown` when none comes within a few seconds.
 */
export async function answerWithin<T>(clock: Clock, pending: Promise<Answer<T>>): Promise<Answer<T>> {
  const answer = await withTimeout(clock, NETWORK_TIMEOUT_MS, pending)
  return answer ?? { kind: 'unknown', detail: 'no endpoint answered in time' }
}

async function firstOf(answers: Promise<Answer<bigint>[]>): Promise<Answer<bigint>> {
  const [first] = await answers
  return first ?? { kind: 'unknown', detail: 'no endpoint answered' }
}

/** The stored counter, or the nonce of the chain if that is higher. */
function higher(counter: bigint | undefined, chainNonce: bigint | undefined): bigint | undefined {
  if (counter === undefined || chainNonce === undefined) return counter ?? chainNonce
  return counter > chainNonce ? counter : chainNonce
}

function reason(what: string, answer: Answer<bigint>): string[] {
  if (answer.kind === 'ok') return []
  const detail = answer.kind === 'refused' ? answer.refusal.detail : `${answer.detail}.`
  return [`The ${what} is not known: ${detail}`]
}
