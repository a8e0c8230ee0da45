import { isHex, numberToHex } from 'viem/utils'
import { larger, smaller } from '../../../lib/bigint.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import { slicesOf } from '../../../lib/object.ts'
import type { Clock } from '../../../lib/time.ts'
import { type Answer, NO_REPLY } from '../../answer.ts'
import { ALL_IN_TIME, askStatements, atHead, headTolerance, type Rule } from '../../rpc/agreement.ts'
import type { EndpointReply, PooledClient, RpcCall, RpcReply } from '../../rpc/rpc.ts'
import { EVM_AGREEMENT } from '../agreement.ts'
import { MANY_BALANCES, manyBalancesCall, readManyBalances } from './many-balances.ts'
import { readCount, readQuantity } from './quantity.ts'
import { BEHIND, silent } from './reads.ts'

/** Reads what the chain says of accounts. */
export interface AccountReader {
  /** Reads the next free nonce of each address; unknown from an endpoint that has not reached `asOf`. */
  nonces(addresses: readonly string[], asOf?: bigint): Promise<Answer<bigint>[]>
  /**
   * Reads the balance in wei; unknown from an endpoint that is behind, because it may have missed a deposit.
   */
  balance(address: string, asOf?: bigint): Promise<Answer<bigint>>
  /**
   * Reads the balances of many addresses like `balance`; unknown beyond a few on chains that tell them one by
   * one.
   */
  balances(addresses: readonly string[]): Promise<Answer<bigint>[]>
  /** Returns the number of balances that one call reads. */
  balancesPerCall(): number
}

/** One kind of number that the chain keeps for an account. */
interface Kind {
  readonly method: string
  readonly read: (value: unknown) => bigint | undefined
  readonly rule: Rule
  /** One endpoint alone may say this, when the endpoints last agreed on `known`. */
  readonly isHarmless: (value: bigint, known: bigint) => boolean
}

/** A nonce that is too high, or too low, stops a relayer. */
const NONCE: Kind = {
  method: 'eth_getTransactionCount',
  read: readCount,
  rule: EVM_AGREEMENT['nonce of an account'].agreed,
  isHarmless: (value, known) => value === known,
}

/**
 * A balance that is too low refuses requests; one that is too high is found out by the node that gets the
 * transaction.
 */
const BALANCE: Kind = {
  method: 'eth_getBalance',
  read: readQuantity,
  rule: EVM_AGREEMENT.balance.agreed,
  isHarmless: (value, known) => value >= known,
}

/**
 * The numbers of at most this many accounts are remembered. More only take memory; without any, every read
 * asks all endpoints.
 */
const MAX_REMEMBERED = 50_000

/** A node that has refused to tell many balances in one call is asked again after this time, in ms. */
const REFUSED_FOR_MS = 3_600_000

/**
 * A chain whose programs see balances in the unit of its nodes is asked about that again after this time, in
 * ms.
 */
const COMPARED_FOR_MS = 3_600_000

/**
 * Two reads of a balance that are more than this many times apart are in different units: programs on Hedera
 * see hundred-millionths of a coin, and its nodes tell the 10^18th part. With a smaller factor, an account
 * that moves between the reads looks like such a chain.
 */
const OTHER_UNIT = 1_000n

/** The most balances that are read one by one where no call tells many. The next read has the others. */
const MAX_ONE_BY_ONE = 10

/** Calls about accounts, and how to read their replies. */
interface Question {
  readonly calls: readonly RpcCall[]
  /** Returns the reply about each account, in their order: a single value as its result. */
  readonly split: (replies: readonly EndpointReply[]) => readonly EndpointReply[]
}

/**
 * Creates a reader that asks one endpoint while its answer can do no harm, and otherwise all of them: an
 * account that rests costs one call, and a change that one endpoint alone reports is none.
 */
export function createAccountReader(client: PooledClient, blocktimeMs: number, clock: Clock): AccountReader {
  const agreed = new BoundedMap<string, bigint>(MAX_REMEMBERED)
  const tolerance = headTolerance(blocktimeMs)
  let refusedUntil = Number.NEGATIVE_INFINITY

  let comparedUntil = Number.NEGATIVE_INFINITY

  const balancesPerCall = () => (clock.monotonic() < refusedUntil ? 1 : MANY_BALANCES)

  async function read(
    kind: Kind,
    { addresses, question, asOf }: { addresses: readonly string[]; question: Ask; asOf?: bigint | undefined },
  ): Promise<Answer<bigint>[]> {
    const { method, isHarmless } = kind
    const first = question(addresses)
    const replies = first.split(await client.sendAsOf(first.calls, asOf))
    const answers = replies.map((reply) => toFresh(reply, kind.read))
    if (client.states().length < 2) return answers
    const keys = addresses.map((address) => `${method} ${address.toLowerCase()}`)
    const doubtful = [...answers.keys()].filter((index) => {
      const [answer, known] = [answers[index], agreed.get(keys[index] ?? '')]
      return answer?.kind !== 'ok' || known === undefined || !isHarmless(answer.value, known)
    })
    if (doubtful.length === 0) return answers
    const again = question(doubtful.flatMap((index) => addresses[index] ?? []))
    const endpoints = (await client.sendEverywhere(again.calls, asOf, ALL_IN_TIME)).map(again.split)
    for (const [position, index] of doubtful.entries()) {
      const value = agreedOf(
        kind,
        endpoints.flatMap((told) => told[position] ?? []),
        asOf,
      )
      if (value === undefined) continue
      agreed.set(keys[index] ?? '', value)
      answers[index] = { kind: 'ok', value }
    }
    return answers
  }

  function agreedOf(kind: Kind, replies: readonly EndpointReply[], asOf?: bigint): bigint | undefined {
    const told = replies.flatMap(({ reply, behind, head }) =>
      reply.kind === 'result' && (asOf === undefined || !behind)
        ? [{ value: kind.read(reply.result), head }]
        : [],
    )
    return kind.rule.of(atHead(told, tolerance).map(({ value }) => value))
  }

  /**
   * Compares one of many balances with what `eth_getBalance` says of it; unknown without an answer to that.
   */
  async function compareUnit(
    addresses: readonly string[],
    answers: readonly Answer<bigint>[],
  ): Promise<'same' | 'other' | 'unknown'> {
    if (clock.monotonic() < comparedUntil) return 'same'
    const index = answers.findIndex((answer) => answer.kind === 'ok' && answer.value > 0n)
    const [many, address] = [answers[index], addresses[index]]
    if (many?.kind !== 'ok' || address === undefined) return 'same'
    const [one] = await read(BALANCE, { addresses: [address], question: oneByOne(BALANCE) })
    if (one?.kind !== 'ok') return 'unknown'
    if (larger(one.value, many.value) > smaller(one.value, many.value) * OTHER_UNIT) return 'other'
    comparedUntil = clock.monotonic() + COMPARED_FOR_MS
    return 'same'
  }

  async function balances(addresses: readonly string[]): Promise<Answer<bigint>[]> {
    if (addresses.length > 1 && balancesPerCall() > 1) {
      let isRefused = false
      const onRefusal = () => {
        isRefused = true
      }
      const answers = await read(BALANCE, { addresses, question: (some) => manyAtOnce(some, onRefusal) })
      const isTold = !isRefused || answers.some(({ kind }) => kind === 'ok')
      const unit = isTold ? await compareUnit(addresses, answers) : 'other'
      if (unit === 'same') return answers
      if (unit === 'other') {
        refusedUntil = clock.monotonic() + REFUSED_FOR_MS
        // An amount that was agreed on in the other unit would let one endpoint say anything above it.
        agreed.clear()
      }
    }
    const asked = addresses.slice(0, MAX_ONE_BY_ONE)
    const answers = await read(BALANCE, { addresses: asked, question: oneByOne(BALANCE) })
    return addresses.map((_, index) => answers[index] ?? LATER)
  }

  return {
    nonces: (addresses, asOf) => read(NONCE, { addresses, question: oneByOne(NONCE), asOf }),
    balance: async (address, asOf) => {
      const [answer] = await read(BALANCE, { addresses: [address], question: oneByOne(BALANCE), asOf })
      return answer ?? { kind: 'unknown', detail: 'no reply' }
    },
    balances,
    balancesPerCall,
  }
}

type Ask = (addresses: readonly string[]) => Question

function oneByOne({ method }: Kind): Ask {
  return (addresses) => ({
    calls: addresses.map((address) => ({ method, params: [address, 'latest'] })),
    split: (replies) => replies,
  })
}

/** Asks for many balances in one call. `onRefusal` is called if an endpoint does not tell them so. */
function manyAtOnce(addresses: readonly string[], onRefusal: () => void): Question {
  const slices = slicesOf(addresses, MANY_BALANCES)
  return {
    calls: slices.map(manyBalancesCall),
    split: (replies) =>
      slices.flatMap((slice, index) => {
        const whole = replies[index] ?? { reply: NO_REPLY, behind: true }
        const { reply } = whole
        const values = reply.kind === 'result' ? readManyBalances(reply.result, slice.length) : undefined
        if (values !== undefined)
          return values.map(
            (value): EndpointReply => ({ ...whole, reply: { kind: 'result', result: numberToHex(value) } }),
          )
        if (reply.kind !== 'unknown') onRefusal()
        return slice.map(
          (): EndpointReply => ({
            ...whole,
            reply: reply.kind === 'result' ? UNREADABLE : reply,
          }),
        )
      }),
  }
}

const UNREADABLE: RpcReply = { kind: 'unknown', detail: 'the endpoint did not answer with balances' }

const LATER = { kind: 'unknown', detail: 'the balance is read later' } as const

/** Reads a number for a decision, so an endpoint that is behind does not count (I6). */
function toFresh(
  endpointReply: EndpointReply | undefined,
  read: (value: unknown) => bigint | undefined,
): Answer<bigint> {
  const { reply, behind } = endpointReply ?? { reply: NO_REPLY, behind: true }
  if (reply.kind !== 'result') return silent(reply)
  if (behind) return BEHIND
  const value = read(reply.result)
  return value === undefined
    ? { kind: 'unknown', detail: 'the endpoint did not answer with a number' }
    : { kind: 'ok', value }
}

/** The selector of `decimals()` of ERC-20. */
const DECIMALS = '0x313ce567'

/** The characters of one word of data. */
const WORD = 66

/**
 * Reads the decimals of a token, which endpoints must agree on, two of them where there are several: the
 * service keeps them. A contract that says nothing, or a number that no token has, is unknown.
 */
export async function readTokenDecimals(client: PooledClient, token: string): Promise<Answer<number>> {
  const told = await askStatements(client, {
    calls: [{ method: 'eth_call', params: [{ to: token, data: DECIMALS }, 'latest'] }],
    read: ([endpointReply]) => decimalsIn(endpointReply?.reply, token),
    isSame: (one, other) => one === other,
  })
  if (told.kind !== 'ok') return told
  const [first, ...others] = told.value.map(({ value }) => value)
  const enough = Math.min(2, client.states().length)
  return first !== undefined && told.value.length >= enough && others.every((one) => one === first)
    ? { kind: 'ok', value: first }
    : { kind: 'unknown', detail: `the endpoints do not agree on the decimals of ${token}` }
}

/** `decimals` returns one byte, in a word. */
function decimalsIn(reply: RpcReply | undefined, token: string): Answer<number> {
  const word = reply?.kind === 'result' ? reply.result : undefined
  const decimals = isHex(word) && word.length === WORD ? BigInt(word) : undefined
  return decimals !== undefined && decimals <= 255n
    ? { kind: 'ok', value: Number(decimals) }
    : { kind: 'unknown', detail: `contract ${token} does not say what decimals it has` }
}
