import { keccak256 } from 'viem'
import type { Anvil } from './anvil.ts'
import { type RpcServer, startRpcServer, type WireAnswer, type WireCall } from './rpc-server.ts'

/** A private endpoint over real HTTP: it keeps the bytes that it gets, and no one else learns of them before a test says so. */
export interface PrivateEndpoint {
  readonly url: string
  /** The bytes in the order of arrival, each as often as it came. */
  readonly raws: readonly string[]
  /** The methods that it was asked, each once. */
  readonly methods: () => string[]
  /** The answer to each HTTP request from now on; undefined takes the bytes and answers with their hashes. */
  behave(answer: ((calls: readonly WireCall[]) => WireAnswer) | undefined): void
  /** Gives the newest bytes to the node, as a builder gives a bundle to its block. */
  include(anvil: Anvil): Promise<void>
  stop(): Promise<void>
}

/** Starts an endpoint that takes everything. */
export async function startPrivateEndpoint(): Promise<PrivateEndpoint> {
  const raws: string[] = []
  let behaviour: ((calls: readonly WireCall[]) => WireAnswer) | undefined
  const server: RpcServer = await startRpcServer((calls) => {
    raws.push(...calls.flatMap((call) => bytesOf(call) ?? []))
    return behaviour === undefined ? taken(calls) : behaviour(calls)
  })
  return {
    url: server.url,
    raws,
    methods: () => [...new Set(server.requests.flat().map(({ method }) => method))],
    behave: (answer) => {
      behaviour = answer
    },
    include: async (anvil) => {
      await anvil.rpc('eth_sendRawTransaction', [raws.at(-1)])
      await anvil.rpc('evm_mine')
    },
    stop: () => server.stop(),
  }
}

/** Answers as an endpoint that takes the bytes. */
export function taken(calls: readonly WireCall[]): WireAnswer {
  const replies = calls.map((call) => {
    const raw = bytesOf(call)
    return raw === undefined
      ? { jsonrpc: '2.0', id: call.id, error: { code: -32601, message: `no ${call.method} here` } }
      : { jsonrpc: '2.0', id: call.id, result: keccak256(raw) }
  })
  return { body: replies.length === 1 ? replies[0] : replies }
}

function bytesOf({ method, params: [first] }: WireCall): `0x${string}` | undefined {
  if (method === 'eth_sendRawTransaction') return first as `0x${string}`
  return method === 'eth_sendPrivateTransaction' ? (first as { tx: `0x${string}` }).tx : undefined
}
