import type { Kysely } from 'kysely'
import type { Answer } from '../chains/answer.ts'
import type { Schema } from '../database/schema.ts'
import { type Clock, withTimeout } from '../lib/clock.ts'
import type { Relayer } from '../relayers/relayer.ts'
import { readAccountState } from './account-state-store.ts'
import type { RelayerRuntime } from './model/runtime.ts'

/** How long the network is asked, in ms. Longer, and callers give up before they learn the rest. */
const MAX_ASKING_MS = 5_000

/** How the account of a relayer is doing. Amounts in the smallest unit of its network. */
export interface AccountState {
  /** What it can spend; undefined when no endpoint told. */
  readonly balance: bigint | undefined
  /** The nonce that the next transaction of its own line gets, as far as that is known; undefined on chains without nonces. */
  readonly nextNonce: bigint | undefined
  /** The next nonce that the chain leaves free; undefined when no endpoint told, or the account does not exist. */
  readonly chainNonce: bigint | undefined
  readonly open: number
  readonly lastConfirmedAt: Date | undefined
  /** What could not be learned and why, in sentences. */
  readonly logs: readonly string[]
}

interface AccountStateDeps {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly runtimeOf: (relayer: Relayer) => RelayerRuntime
}

/** Asks the database, and the network as long as it answers in time. */
export async function getAccountState(
  { db, clock, runtimeOf }: AccountStateDeps,
  relayer: Relayer,
): Promise<AccountState> {
  const { chain } = runtimeOf(relayer)
  const [{ nextNonce, ...stored }, balance, nonce] = await Promise.all([
    readAccountState(db, relayer),
    fetchBalance(clock, { chain, address: relayer.address }),
    chain.sequencing && answerWithin(clock, firstOf(chain.sequencing.nonces([relayer.address]))),
  ])
  const chainNonce = nonce?.kind === 'ok' ? nonce.value : undefined
  return {
    ...stored,
    balance: balance.kind === 'ok' ? balance.value : undefined,
    chainNonce,
    nextNonce: higher(nextNonce, chainNonce),
    logs: [...reason('balance', balance), ...(nonce ? reason('nonce', nonce) : [])],
  }
}

/** What the account can spend, asked for a few seconds at most. */
export function fetchBalance(
  clock: Clock,
  { chain, address }: { readonly chain: RelayerRuntime['chain']; readonly address: string },
): Promise<Answer<bigint>> {
  return answerWithin(clock, chain.balance(address))
}

async function answerWithin<T>(clock: Clock, asked: Promise<Answer<T>>): Promise<Answer<T>> {
  const answer = await withTimeout(clock, MAX_ASKING_MS, asked)
  return answer ?? { kind: 'unknown', detail: 'no endpoint answered in time' }
}

async function firstOf(answers: Promise<Answer<bigint>[]>): Promise<Answer<bigint>> {
  const [first] = await answers
  return first ?? { kind: 'unknown', detail: 'no endpoint answered' }
}

/** A counter that the chain has passed follows it. */
function higher(counter: bigint | undefined, chainNonce: bigint | undefined): bigint | undefined {
  if (counter === undefined || chainNonce === undefined) return counter ?? chainNonce
  return counter > chainNonce ? counter : chainNonce
}

function reason(what: string, answer: Answer<bigint>): string[] {
  if (answer.kind === 'ok') return []
  const detail = answer.kind === 'refused' ? answer.refusal.detail : `${answer.detail}.`
  return [`The ${what} is not known: ${detail}`]
}
