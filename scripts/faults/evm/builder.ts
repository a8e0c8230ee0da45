import type { Anvil } from '../../../test/support/anvil.ts'
import { startPrivateEndpoint, taken } from '../../../test/support/private-endpoint.ts'

/** A block builder behind a private endpoint: it takes everything, and includes nothing before it is told to. */
export interface Builder {
  readonly url: string
  /** It leaves out what it has, and what it gets from now on. */
  leaveOut(): void
  /** It puts what it has, and what it gets from now on, into the next blocks. */
  relieve(): void
  /** Hands over what is to be in the next block. */
  handOver(anvil: Anvil): Promise<void>
  stop(): Promise<void>
}

/** Starts a builder that leaves everything out. `heard` is told of all bytes that arrive. */
export async function startBuilder(heard: (raw: string) => void): Promise<Builder> {
  const endpoint = await startPrivateEndpoint()
  let raws: string[] = []
  let includes = false
  endpoint.behave((calls) => {
    for (const { params } of calls) {
      const [raw] = params as [string]
      heard(raw)
      if (!raws.includes(raw)) raws.push(raw)
    }
    return taken(calls)
  })
  return {
    url: endpoint.url,
    leaveOut: () => {
      raws = []
      includes = false
    },
    relieve: () => {
      includes = true
    },
    handOver: async (anvil) => {
      if (!includes) return
      // What was included, or replaced, is refused.
      for (const raw of raws) await anvil.rpc('eth_sendRawTransaction', [raw]).catch(() => undefined)
    },
    stop: () => endpoint.stop(),
  }
}
