import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Random } from '../../../test/support/random.ts'
import { lieOnce } from './lies.ts'

/** An endpoint in front of a real node that answers what it likes. */
export interface HostileEndpoint {
  readonly url: string
  /** The number of answers of each kind. */
  readonly answers: Readonly<Record<string, number>>
  /** True: it answers what it likes. False, at first: it passes everything on. */
  isHostile: boolean
  stop(): Promise<void>
}

/**
 * The kinds of answers with their weights. An endpoint that fails is not asked again for a while, so failures are rare beside what is
 * true or a lie.
 */
const KINDS = {
  pass: 16,
  lie: 16,
  wrong_id: 1,
  odd_error: 2,
  garbage: 0.3,
  status: 0.3,
  cut: 0.3,
  huge: 0.3,
  deep: 0.3,
  wide: 0.3,
  drip: 0.3,
  silent: 0.3,
  endless: 0.3,
  false_length: 0.3,
} as const

type Kind = keyof typeof KINDS

/** Half of the answers are lies that a node could tell, so the service goes on to ask. */
const PLAUSIBLE_KINDS = { pass: 10, lie: 10, odd_error: 0.5, silent: 0.1, cut: 0.1 } as const

/** Lies that are no value of the field, so many of all. */
const NONSENSE = 0.15

interface HostileEndpointOptions {
  /** The real node. */
  readonly target: string
  readonly random: Random
  /** It lies about numbers and hashes, and hardly does anything else. */
  readonly isPlausible: boolean
}

const MIB = 1_048_576

/** An answer that has no end by itself ends after this time, in ms: far longer than the service waits. */
const LONGEST_MS = 20_000

const ODD_ERRORS: readonly unknown[] = [
  null,
  'no',
  {},
  { code: '1', message: 1 },
  { code: -32000 },
  { code: 1e99, message: 'x'.repeat(100_000) },
  { code: -32000, message: 'nonce too low' },
  { code: -32000, message: 'already known' },
  { code: -32000, message: 'insufficient funds' },
  { code: -32000, message: 'replacement transaction underpriced' },
  { code: -32602, message: 'execution reverted', data: '0x' },
  { code: -32002, message: 'Transaction simulation failed: Blockhash not found' },
]

/** Starts one in front of a node. */
export async function startHostileEndpoint(options: HostileEndpointOptions): Promise<HostileEndpoint> {
  const { target, random, isPlausible } = options
  const answers: Record<string, number> = {}
  const server = createServer((request, response) => {
    const kind: Kind = endpoint.isHostile ? drawKind(random, isPlausible) : 'pass'
    answer({ kind, target, random, answers, nonsense: isPlausible ? 0 : NONSENSE }, request, response).catch(
      () => response.destroy(),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endpoint: HostileEndpoint = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answers,
    isHostile: false,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return endpoint
}

function drawKind(random: Random, isPlausible: boolean): Kind {
  return isPlausible ? random.weighted(PLAUSIBLE_KINDS) : random.weighted(KINDS)
}

interface Manner {
  readonly kind: Kind
  readonly target: string
  readonly random: Random
  readonly answers: Record<string, number>
  readonly nonsense: number
}

/** Questions about the identity of the network. A lie about it disables the relayer, and then no other lie is heard. */
const IDENTITY = /"method":"(?:eth_chainId|getNetwork|getGenesisHash)"/
const IDENTITY_LIES = 0.02

type Entry = Readonly<Record<string, unknown>>

async function answer(manner: Manner, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const asked = await text(request)
  const { random, answers } = manner
  const kind = IDENTITY.test(asked) && !random.chance(IDENTITY_LIES) ? 'pass' : manner.kind
  answers[kind] = (answers[kind] ?? 0) + 1
  const json = { 'content-type': 'application/json' }
  switch (kind) {
    case 'cut':
      return void request.socket.destroy()
    case 'silent':
      return
    case 'garbage':
      return void response
        .writeHead(200, json)
        .end(random.pick(['', 'null', '1', '"x"', '{', '<html>', '\ufeff{}', 'NaN']))
    case 'status':
      return void response
        .writeHead(random.pick([204, 301, 400, 402, 418, 429, 500, 503, 599]), {
          'retry-after': random.pick(['1', '-1', 'x', '1e9']),
        })
        .end('no')
    case 'huge':
      return void response
        .writeHead(200, json)
        .end(`{"jsonrpc":"2.0","id":1,"result":"${'x'.repeat(3 * MIB)}"}`)
    case 'deep':
      return void response.writeHead(200, json).end('['.repeat(MIB / 2))
    case 'wide':
      return void response.writeHead(200, json).end(`[${'{},'.repeat(300_000)}{}]`)
    case 'false_length':
      return void response.writeHead(200, { ...json, 'content-length': '1000000000' }).write('{"jsonrpc":')
    case 'drip':
      return drip(response, 1, 100)
    case 'endless':
      return drip(response, 65_536, 5)
    default:
      response.writeHead(200, json).end(JSON.stringify(await changed({ ...manner, kind }, asked)))
  }
}

/** Asks the node, and changes its answer. */
async function changed({ kind, target, random, nonsense }: Manner, asked: string): Promise<unknown> {
  const reply = await fetch(target, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: asked,
  })
  const told = (await reply.json()) as Entry | Entry[]
  const change = (entry: Entry) => changedEntry(entry, { kind, random, nonsense })
  return Array.isArray(told) ? told.map(change) : change(told)
}

function changedEntry(
  entry: Entry,
  { kind, random, nonsense }: Pick<Manner, 'kind' | 'random' | 'nonsense'>,
): Entry {
  if (kind === 'lie') return { ...entry, result: lieOnce(entry.result, { random, nonsense }) }
  if (kind === 'wrong_id')
    return { ...entry, id: random.pick([null, '1', -1, [], {}, Number(entry.id) + 1, undefined]) }
  if (kind === 'odd_error') return { jsonrpc: '2.0', id: entry.id, error: random.pick(ODD_ERRORS) }
  return entry
}

/** Writes this many bytes every this many ms, until no one reads any more. */
function drip(response: ServerResponse, bytes: number, everyMs: number): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  const block = Buffer.alloc(bytes, '[')
  const timer = setInterval(() => {
    if (!response.writableNeedDrain) response.write(block)
  }, everyMs)
  const end = setTimeout(() => response.destroy(), LONGEST_MS)
  response.on('close', () => {
    clearInterval(timer)
    clearTimeout(end)
  })
}
