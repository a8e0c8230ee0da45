import type { Answer } from '../answer.ts'
import type { Genesis } from '../capabilities.ts'
import type { PooledClient, RpcCall, RpcReply } from './rpc.ts'

/** The question which network an endpoint serves. */
interface NetworkQuestion {
  readonly call: RpcCall
  /** Refuses a reply that names another network than the configured one. */
  readonly compare: (reply: RpcReply) => Answer<void>
}

/** The options say which endpoints are refused. */
export interface VerifyOptions {
  /**
   * One endpoint that serves another network is enough: for endpoints that an operator or caller is about to
   * configure.
   */
  readonly each?: boolean
}

/**
 * Asks every endpoint which network it serves. Refuses if more of them serve another network than the
 * configured one: of several, one alone refuses nothing (I16). `replies` are those to the call, where it was
 * asked already.
 */
export async function verifyNetwork(
  client: Pick<PooledClient, 'send' | 'sendEverywhere' | 'states'>,
  { call, compare, each = false }: NetworkQuestion & VerifyOptions,
  replies?: readonly RpcReply[],
): Promise<Answer<void>> {
  const everywhere = replies ?? (await client.sendEverywhere([call])).flat().map(({ reply }) => reply)
  // All endpoints are paused, so the one allowed as a last resort decides.
  const answered = everywhere.some(({ kind }) => kind !== 'unknown')
  const answers = (answered ? everywhere : await client.send([call])).map(compare)
  const refusals = answers.filter(({ kind }) => kind === 'refused')
  const serving = answers.filter(({ kind }) => kind === 'ok')
  const enough = each ? 1 : Math.min(2, client.states().length)
  if (refusals.length >= enough && (each || refusals.length > serving.length)) return refusals[0] ?? SILENT
  return serving[0] ?? answers.find(({ kind }) => kind === 'unknown') ?? SILENT
}

const SILENT = { kind: 'unknown', detail: 'too few endpoints answer' } as const

/** The question for the first block of a chain. */
export interface GenesisQuestion {
  readonly call: RpcCall
  /** Takes the hash from the result; any value that is not a string counts as unknown. */
  readonly read: (result: unknown) => unknown
}

/** Creates the reader of a chain's first block. */
export function createGenesisReader(client: PooledClient, { call, read }: GenesisQuestion): Genesis {
  const hashesOf = (replies: readonly RpcReply[]) =>
    replies.flatMap((reply) => {
      const hash = reply.kind === 'result' ? read(reply.result) : undefined
      return typeof hash === 'string' ? [hash] : []
    })
  return {
    read: async () => agreed(hashesOf(await client.send([call])), 1),
    readEverywhere: async () => {
      const told = hashesOf((await client.sendEverywhere([call])).flat().map(({ reply }) => reply))
      return agreed(told, Math.min(2, client.states().length))
    },
  }
}

/** Returns the hash that all of them tell; unknown if fewer than `least` do. */
function agreed(hashes: readonly string[], least: number): Answer<string> {
  const [hash] = hashes
  if (hash === undefined || hashes.length < least)
    return { kind: 'unknown', detail: 'too few endpoints have the first block' }
  return hashes.every((other) => other === hash)
    ? { kind: 'ok', value: hash }
    : { kind: 'unknown', detail: 'the endpoints have different first blocks' }
}
