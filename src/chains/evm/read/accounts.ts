import type { Answer } from '../../answer.ts'
import { ALL_IN_TIME, atHead, headTolerance, type Rule } from '../../rpc/agreement.ts'
import type { EndpointReply, PooledClient, RpcCall } from '../../rpc/rpc.ts'
import { EVM_AGREEMENT } from '../agreement.ts'
import { readCount, readQuantity } from './quantity.ts'
import { BEHIND, NO_REPLY, silent } from './reads.ts'

/** Reads what the chain says of accounts. */
export interface AccountReader {
  /** Reads the next free nonce of each address; unknown from an endpoint that has not reached `asOf`. */
  nonces(addresses: readonly string[], asOf?: bigint): Promise<Answer<bigint>[]>
  /** Reads the balance in wei; unknown from an endpoint that is behind, because it may have missed a deposit. */
  balance(address: string, asOf?: bigint): Promise<Answer<bigint>>
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

/** A balance that is too low refuses requests; one that is too high is found out by the node that gets the transaction. */
const BALANCE: Kind = {
  method: 'eth_getBalance',
  read: readQuantity,
  rule: EVM_AGREEMENT.balance.agreed,
  isHarmless: (value, known) => value >= known,
}

/** The numbers of at most this many accounts are remembered. More only take memory; without any, every read asks all endpoints. */
const MAX_REMEMBERED = 10_000

/**
 * Creates a reader that asks one endpoint while its answer can do no harm, and otherwise all of them: an account that rests costs one call, and a
 * change that one endpoint alone reports is none.
 */
export function createAccountReader(client: PooledClient, blocktimeMs: number): AccountReader {
  const agreed = new Map<string, bigint>()
  const tolerance = headTolerance(blocktimeMs)

  function remember(key: string, value: bigint): void {
    if (agreed.size >= MAX_REMEMBERED) agreed.clear()
    agreed.set(key, value)
  }

  async function read(kind: Kind, addresses: readonly string[], asOf?: bigint): Promise<Answer<bigint>[]> {
    const { method, isHarmless } = kind
    const calls = addresses.map((address): RpcCall => ({ method, params: [address, 'latest'] }))
    const answers = (await client.sendAsOf(calls, asOf)).map((reply) => toFresh(reply, kind.read))
    if (client.states().length < 2) return answers
    const keys = addresses.map((address) => `${method} ${address.toLowerCase()}`)
    const doubtful = [...answers.keys()].filter((index) => {
      const [answer, known] = [answers[index], agreed.get(keys[index] ?? '')]
      return answer?.kind !== 'ok' || known === undefined || !isHarmless(answer.value, known)
    })
    if (doubtful.length === 0) return answers
    const endpoints = await client.sendEverywhere(
      doubtful.flatMap((index) => calls[index] ?? []),
      asOf,
      ALL_IN_TIME,
    )
    for (const [position, index] of doubtful.entries()) {
      const value = agreedOf(
        kind,
        endpoints.flatMap((replies) => replies[position] ?? []),
        asOf,
      )
      if (value === undefined) continue
      remember(keys[index] ?? '', value)
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

  return {
    nonces: (addresses, asOf) => read(NONCE, addresses, asOf),
    balance: async (address, asOf) => {
      const [answer] = await read(BALANCE, [address], asOf)
      return answer ?? { kind: 'unknown', detail: 'no reply' }
    },
  }
}

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
