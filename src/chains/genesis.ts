import type { Answer } from './answer.ts'
import type { Genesis } from './capabilities.ts'
import type { PooledClient, RpcCall, RpcReply } from './rpc/rpc.ts'

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
  const one = async () => hashesOf(await client.send([call]))
  return {
    read: async () => agreed(await one()),
    readEverywhere: async () => {
      const told = hashesOf((await client.sendEverywhere([call])).flat().map(({ reply }) => reply))
      // All endpoints rest, so the one that may be asked as a last resort decides.
      return agreed(told.length > 0 ? told : await one())
    },
  }
}

function agreed(hashes: readonly string[]): Answer<string> {
  const [hash] = hashes
  if (hash === undefined) return { kind: 'unknown', detail: 'no endpoint has the first block' }
  return hashes.every((other) => other === hash)
    ? { kind: 'ok', value: hash }
    : { kind: 'unknown', detail: 'the endpoints have different first blocks' }
}
