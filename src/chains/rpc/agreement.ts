import { larger, smaller } from '../../lib/bigint.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Answer, Head } from '../answer.ts'
import type { EndpointReply, PooledClient, RpcCall } from './rpc.ts'

/**
 * Each value that an endpoint tells and that can cost money, hold an account or end a request, by name: what
 * the other endpoints have to say about it. A chain has one such table, and a test lies about every row of
 * it.
 */
export type AgreementTable = Readonly<Record<string, AgreementRow>>

interface AgreementRow {
  /** The calls that tell the value. */
  readonly told: readonly string[]
  /**
   * `all`: every endpoint is asked, at the same time · `one`: one, and all others if its answer refuses or
   * differs from what was agreed.
   */
  readonly asked: 'all' | 'one, then all'
  /** The rule by which the answers of the endpoints at the head become one value, or its words. */
  readonly agreed: Rule | string
  /** The most that an endpoint can do whose answer no one else confirms. */
  readonly alone: string
}

/** The value that an endpoint tells, and the height at which it does. */
export interface Statement<T> {
  readonly value: T
  /** The height that the endpoint reported with it. */
  readonly head: bigint
  /** The endpoint has not reached the newest block that another one reported. */
  readonly behind: boolean
}

interface Asking<T> {
  readonly calls: readonly RpcCall[]
  /** Reads the replies of one endpoint, in the order of the calls. */
  readonly read: (replies: readonly EndpointReply[]) => Answer<T>
  /**
   * Returns true if two endpoints say the same, as far as it matters. Two that do are enough, and the others
   * are not waited for.
   */
  readonly isSame: (one: T, other: T) => boolean
  /** An endpoint is at the head if it is at most this many blocks behind. Default: 0. */
  readonly toleratedBlocks?: bigint
}

type AskedClient = Pick<PooledClient, 'sendEverywhere' | 'sendAsOf' | 'states'>

/**
 * Asks every endpoint at the same time and returns what those at the head say; unknown if none of them
 * answers. A network with one endpoint has only its word.
 */
export async function askStatements<T>(
  client: AskedClient,
  asking: Asking<T>,
): Promise<Answer<readonly Statement<T>[]>> {
  const { told, silence } = await askEveryone(client, asking)
  const current = told.filter(({ behind }) => !behind)
  return current.length > 0 ? { kind: 'ok', value: current } : { kind: 'unknown', detail: silence }
}

/** Asks like `askStatements`, and returns what most endpoints say; of several, what the newest one says. */
export async function askMost<T>(client: AskedClient, asking: Asking<T>): Promise<Answer<T>> {
  const told = await askStatements(client, asking)
  if (told.kind !== 'ok') return told
  const newestFirst = told.value.toSorted((one, other) => (one.head > other.head ? -1 : 1))
  const [first, ...others] = newestFirst.map(({ value }) => value)
  if (first === undefined) return { kind: 'unknown', detail: 'no reply' }
  return { kind: 'ok', value: mostAgreed([first, ...others], asking.isSame) }
}

interface Everyone<T> {
  readonly told: readonly Statement<T>[]
  /** The reason why no one at the head answered, if no one did. */
  readonly silence: string
}

/** Asks like `askStatements`, and returns also what endpoints say that are behind. */
export async function askEveryone<T>(client: AskedClient, asking: Asking<T>): Promise<Everyone<T>> {
  const { calls, read, isSame, toleratedBlocks = 0n } = asking
  const known = newestKnown(client)
  const statementsIn = (endpoints: readonly (readonly EndpointReply[])[]) => {
    const told = endpoints.flatMap((replies): Omit<Statement<T>, 'behind'>[] => {
      const answer = read(replies)
      const head = replies[0]?.head
      return answer.kind === 'ok' && head !== undefined ? [{ value: answer.value, head }] : []
    })
    return withBehind(told, { known, toleratedBlocks })
  }
  const enough = (endpoints: readonly (readonly EndpointReply[])[]) => {
    const told = statementsIn(endpoints).filter(({ behind }) => !behind)
    return told.some((one, index) => told.slice(index + 1).some((other) => isSame(one.value, other.value)))
  }
  const hasOthers = client.states().length > 1
  const everywhere = hasOthers ? await client.sendEverywhere(calls, 0n, enough) : []
  // When every endpoint is paused, the one that is allowed as a last resort decides.
  const isSilent = everywhere.every((replies) => replies.every(({ reply }) => reply.kind === 'unknown'))
  const floor = known > toleratedBlocks ? known - toleratedBlocks : 0n
  const endpoints = isSilent ? [await client.sendAsOf(calls, floor)] : everywhere
  return { told: statementsIn(endpoints), silence: silenceIn(endpoints.map(read)) }
}

function silenceIn(answers: readonly Answer<unknown>[]): string {
  const answer = answers.find(({ kind }) => kind === 'unknown')
  return answer?.kind === 'unknown' ? answer.detail : 'the endpoint is behind the newest known block'
}

function newestKnown(client: Pick<PooledClient, 'states'>): bigint {
  const heads = client.states().flatMap(({ head, healthy }) => (healthy && head !== undefined ? [head] : []))
  return heads.reduce(larger, 0n)
}

/**
 * Adds which of them are behind. Of three and more, the second highest head counts, so that one endpoint
 * cannot put all others behind by a height that the chain does not have.
 */
function withBehind<T>(
  told: readonly Omit<Statement<T>, 'behind'>[],
  { known, toleratedBlocks }: { readonly known: bigint; readonly toleratedBlocks: bigint },
): Statement<T>[] {
  const heads = told.map(({ head }) => head)
  const newest = heads.length < 3 ? heads.reduce(larger, known) : (secondHighest(heads) ?? known)
  return told.map((one) => ({ ...one, behind: one.head + toleratedBlocks < newest }))
}

/**
 * Prices up to this many times another one are the same: the agreed one is then at most this many times too
 * high or too low.
 */
const SAME_FACTOR = 2n

/**
 * Returns true for amounts of which neither is more than twice the other, and for amounts that are both at
 * most `negligible`. Pure.
 */
export function isNear(one: bigint, other: bigint, negligible = 0n): boolean {
  const [least, most] = [smaller(one, other), larger(one, other)]
  return most <= negligible || most <= least * SAME_FACTOR
}

/**
 * Returns the second highest amount; the only one of one. Of three of which one is wrong, in any direction
 * and by any factor, it is between the other two or one of them; of two it is the lower one. Pure.
 */
export function secondHighest<T extends bigint>(amounts: readonly T[]): T | undefined {
  const sorted = amounts.toSorted((one, other) => (one > other ? -1 : one < other ? 1 : 0))
  return sorted[1] ?? sorted[0]
}

/**
 * Returns the second highest amount, and the higher one of two: where the lower of two answers refuses a
 * request or holds up an account. The newest block is one: an endpoint that stands still would hold up both.
 * Pure.
 */
function higherOfTwo(amounts: readonly bigint[]): bigint | undefined {
  return amounts.length === 2 ? amounts.reduce(larger) : secondHighest(amounts)
}

/**
 * No number of answers is enough: `sendEverywhere` waits for every endpoint that answers about as fast as the
 * first one.
 */
export const ALL_IN_TIME = (): boolean => false

/** A rule by which amounts become one; an endpoint without an answer has none. */
export interface Rule {
  /** The rule in the words of the documentation. */
  readonly words: string
  /** Undefined if no endpoint answered. */
  readonly of: (amounts: readonly (bigint | undefined)[]) => bigint | undefined
}

/**
 * If one of three endpoints answers too much, or too little, this is between the answers of the others.
 */
export const SECOND_HIGHEST: Rule = {
  words: 'the second highest',
  of: (amounts) => secondHighest(known(amounts)),
}

export const HIGHER_OF_TWO: Rule = {
  words: 'the second highest; of two the higher one',
  of: (amounts) => higherOfTwo(known(amounts)),
}

function known(amounts: readonly (bigint | undefined)[]): bigint[] {
  return amounts.filter((amount) => amount !== undefined)
}

/**
 * An endpoint is at the head if it is late by no more than this time, in ms, and by no more than two blocks
 * on slow chains. With less, ordinary differences between endpoints exclude one of them; with more, prices of
 * the past count.
 */
const AT_HEAD_MS = 10_000
const AT_HEAD_BLOCKS = 2

/**
 * Returns the number of blocks by which an endpoint of a chain with this block time may be late and still
 * counts.
 */
export function headTolerance(blocktimeMs: number): bigint {
  return BigInt(Math.max(AT_HEAD_BLOCKS, Math.ceil(AT_HEAD_MS / blocktimeMs)))
}

/** Returns the answers of the endpoints that are at the head; all of them if none told a height. Pure. */
export function atHead<T extends { readonly head?: bigint | undefined }>(
  told: readonly T[],
  tolerance: bigint,
): readonly T[] {
  const newest = HIGHER_OF_TWO.of(told.map(({ head }) => head))
  if (newest === undefined) return told
  return told.filter(({ head }) => head !== undefined && head + tolerance >= newest)
}

/** Returns the value that most endpoints say; of several, the first one. Pure. */
export function mostAgreed<T>(values: readonly [T, ...T[]], isSame: (one: T, other: T) => boolean): T {
  const votes = values.map((one) => values.filter((other) => isSame(one, other)).length)
  return values[votes.indexOf(Math.max(...votes))] ?? values[0]
}

/**
 * One endpoint alone may change an amount by at most this part of the one that was agreed, in percent;
 * otherwise all are asked.
 */
const CHANGED_ALONE_PERCENT = 10n

/**
 * The memory holds at most this many amounts. Those that are forgotten are asked of all endpoints once more.
 */
const MAX_AMOUNTS = 10_000

/** Remembers the amounts of accounts that endpoints agreed on. */
export interface AgreedAmounts {
  has(account: string): boolean
  /** Returns true if the amount differs too much from the agreed one to be believed of one endpoint. */
  isDoubtful(account: string, amount: bigint): boolean
  /**
   * Returns the agreed one of what endpoints say: of two that differ the higher one, because a lower balance
   * holds an account.
   */
  agree(account: string, amounts: readonly bigint[]): bigint | undefined
}

/** Creates an empty memory. */
export function createAgreedAmounts(): AgreedAmounts {
  const agreed = new BoundedMap<string, bigint>(MAX_AMOUNTS)
  return {
    has: (account) => agreed.has(account),
    isDoubtful: (account, amount) => {
      const before = agreed.get(account)
      if (before === undefined) return true
      const change = before > amount ? before - amount : amount - before
      return change * 100n > before * CHANGED_ALONE_PERCENT
    },
    agree: (account, amounts) => {
      const amount = higherOfTwo(amounts)
      if (amount !== undefined) agreed.set(account, amount)
      return amount
    },
  }
}

interface HeadAsking {
  readonly calls: readonly RpcCall[]
  /** Reads the head in the replies of one endpoint, in the order of the calls. */
  readonly read: (replies: readonly EndpointReply[]) => Answer<Head>
  /** A head may be this many blocks above what the endpoints reported: they have gone on since. */
  readonly aheadBlocks: bigint
  /** The nodes behind one URL can differ by this many blocks. Default: `aheadBlocks`. */
  readonly lateBlocks?: bigint
}

type HeadClient = Pick<PooledClient, 'sendAsOf' | 'sendEverywhere' | 'states' | 'seenHead'>

/**
 * Reads the head from an endpoint that is as far as the others were lately. A head that no other endpoint can
 * have reached would make every real one look old, and an old one would hold up what waits: both are
 * questions to all, and so is an unreadable one.
 */
export async function askHead(client: HeadClient, asking: HeadAsking): Promise<Answer<Head>> {
  const { calls, read, aheadBlocks, lateBlocks = aheadBlocks } = asking
  const seen = () => client.seenHead()?.height
  const isOld = (number: bigint, reached = 0n) => number + lateBlocks < reached
  const isReached = (number: bigint, reached = number) => number <= reached + aheadBlocks
  const isCredible = ({ number }: Head, reported: bigint | undefined) =>
    !isOld(number, reported) && isReached(number, seen())

  const first = await client.sendAsOf(calls)
  const head = read(first)
  // If no one answered, every endpoint was asked already.
  if (client.states().length < 2 || first.every(({ reply }) => reply.kind === 'unknown')) return head
  if (head.kind === 'ok' && isCredible(head.value, first[0]?.head)) return head
  const everywhere = await client.sendEverywhere(calls, undefined, ALL_IN_TIME)
  const heads = everywhere.map(read).flatMap((one) => (one.kind === 'ok' ? [one.value] : []))
  // Neither of two is late, so the one counts that is nearer to what was seen before.
  const newest = secondHighest(heads.flatMap(({ number }) => (isOld(number, seen()) ? [] : [number])))
  const agreed = heads.find(({ number }) => number === newest)
  return agreed === undefined ? head : { kind: 'ok', value: agreed }
}
