import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { AdjustableClock } from './clock.ts'
import {
  answeredAt,
  answeredOnFork,
  answeredPruned,
  askedAt,
  type Fork,
  type Pruning,
  type WireEntry,
} from './forked.ts'
import { until } from './until.ts'

/**
 * The nodes of one network contradict each other: bytes that one node took, while its reply was lost, are refused by every other node.
 * Real networks do so when the pools of two nodes hold different transactions of one account.
 */
export interface Contradiction {
  readonly method: string
  /** The refusal of the other nodes: an `error`, or a `result` on chains that refuse by one. */
  readonly refusal: Pick<WireEntry, 'error' | 'result'>
  /** The node that took each broadcast whose reply was lost. */
  readonly lost: Map<string, Pick<FaultyNode, 'fault'>>
}

/** Nodes that never lose a reply share nothing. */
export function createContradiction(parts: Omit<Contradiction, 'lost'>): Contradiction {
  return { ...parts, lost: new Map() }
}

/** Chain by chain, a refusal that would end an attempt: a fee too low for the pool, and bytes that the node finds invalid. */
export const REFUSALS = {
  evm: {
    method: 'eth_sendRawTransaction',
    refusal: { error: { code: -32000, message: 'replacement transaction underpriced' } },
  },
  stellar: {
    method: 'sendTransaction',
    // TransactionResult: a fee of 0 is charged, txINSUFFICIENT_FEE, no extension.
    refusal: { result: { status: 'ERROR', errorResultXdr: 'AAAAAAAAAAD////3AAAAAA==' } },
  },
  solana: {
    method: 'sendTransaction',
    refusal: { error: { code: -32003, message: 'Transaction signature verification failure' } },
  },
} as const

/** Remembers the broadcasts of a body whose reply is lost. */
function loseBroadcasts(
  { method, lost }: Contradiction,
  node: Pick<FaultyNode, 'fault'>,
  calls: readonly WireEntry[],
): void {
  for (const call of calls) if (call.method === method) lost.set(JSON.stringify(call.params), node)
}

/** Returns the refusal of this node; undefined for other calls, and for bytes that no other node took. */
function contradicts(
  { method, lost, refusal }: Contradiction,
  node: Pick<FaultyNode, 'fault'>,
  call: WireEntry,
): Contradiction['refusal'] | undefined {
  if (call.method !== method) return undefined
  const owner = lost.get(JSON.stringify(call.params))
  return owner === undefined || owner === node ? undefined : refusal
}

/**
 * The fault of a call. `pass`: none · `drop`: the connection breaks before the node receives it · `lose`: the node executes it and the
 * reply is lost · `duplicate`: the node receives it twice, the second reply arrives · `http_500` / `http_429`: the endpoint answers this
 * and the node receives nothing · `throttle`: 429 with Retry-After · `rest`: the same for so long · `delay`: it waits this long before the
 * node receives it · `lag`: reads are answered from this many blocks ago · `fork`: reads are answered by a replica that has not learned of
 * the last reorganisation, where one can still be that late · `then`: the node executes it, something happens, and the reply is lost.
 */
export type Fault =
  | 'pass'
  | 'drop'
  | 'lose'
  | 'duplicate'
  | 'http_500'
  | 'http_429'
  | 'throttle'
  | 'fork'
  | { readonly kind: 'rest'; readonly seconds: number }
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'lag'; readonly blocks: number }
  | { readonly kind: 'then'; readonly happens: () => Promise<void> }

/** A node that can be made to fail, in front of a real one. */
export interface FaultyNode {
  readonly url: string
  /** Decides for each HTTP request by the methods in it, or by other names of its calls. The request waits for the decision. */
  fault: (methods: readonly string[]) => Fault | Promise<Fault>
  /** The number of requests for each method. */
  readonly calls: Map<string, number>
  /** The reorganisation that `fork` has not learned of. */
  fork?: Fork
  /** The data that the node has deleted; nothing if absent. */
  pruning?: Pruning | undefined
  /** Permanent behaviour, whatever happens to single requests. */
  habits?: Habits | undefined
  /** Told of each call that arrives, and again with the reply that it sends back. */
  tap?: ((call: WireEntry, reply?: WireEntry) => void) | undefined
  stop(): Promise<void>
}

/** The settings of a node, and its lag. */
export interface Habits {
  /** The error by which it refuses a call by rules of its own; the chain's node hears nothing of it. */
  readonly refuse?: (call: WireEntry) => { readonly code: number; readonly message: string } | undefined
  /** What it answers by itself; the chain's node hears nothing of it. */
  readonly answer?: (call: WireEntry) => Pick<WireEntry, 'error' | 'result'> | undefined
  /** What it answers instead of the true reply. */
  readonly lie?: (call: WireEntry, reply: WireEntry) => WireEntry
  /** It is this many blocks behind. */
  readonly behind?: number
  /** Its head stands still at this block. */
  readonly standsAt?: number
  /** It answers everything with 429 and asks for a rest of this many seconds. */
  readonly rests?: number
}

type Decider = Pick<FaultyNode, 'fault' | 'calls' | 'fork' | 'pruning' | 'habits' | 'tap'> & FaultyNodeOptions

/** Facts about chains other than EVM that a faulty node needs. */
export interface FaultyNodeOptions {
  /** The name of a call for `fault` and `calls`. Default: its method. */
  readonly nameOf?: (call: { readonly method?: string; readonly params?: unknown }) => string
  /** The address of a replica that is this many blocks behind. Default: the node's own answers, made older. */
  readonly replica?: (blocks: number) => string
  /** It refuses what another node of the network took without a reply. */
  readonly contradiction?: Contradiction
}

/** A throttling endpoint returns this wait to its callers, in seconds. */
const RETRY_AFTER_SECONDS = 1

/** Starts it on a free port; at first everything passes. */
export async function startFaultyNode(target: string, options: FaultyNodeOptions = {}): Promise<FaultyNode> {
  const node: Decider = { fault: () => 'pass', calls: new Map(), ...options }
  const server = createServer((request, response) => {
    serve(node, target, request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return Object.assign(node, {
    url: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  })
}

async function serve(
  node: Decider,
  target: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await text(request)
  const methods = entriesOf(body).map((call) => node.nameOf?.(call) ?? call.method ?? '')
  for (const method of methods) node.calls.set(method, (node.calls.get(method) ?? 0) + 1)
  for (const call of entriesOf(body)) node.tap?.(call)
  const fault = await habitual(await node.fault(methods), node.habits, target)
  if (fault === 'drop') return void request.socket.destroy()
  if (fault === 'http_500') return void response.writeHead(500).end('no')
  if (fault === 'http_429') return void response.writeHead(429).end('no')
  if (fault === 'throttle') {
    return void response.writeHead(429, { 'retry-after': String(RETRY_AFTER_SECONDS) }).end('no')
  }
  if (typeof fault === 'object' && fault.kind === 'rest') {
    return void response.writeHead(429, { 'retry-after': String(fault.seconds) }).end('no')
  }
  if (fault === 'lose' && node.contradiction) loseBroadcasts(node.contradiction, node, entriesOf(body))
  const reply = await askRest(node, target, body, fault)
  if (reply === undefined) return void request.socket.destroy()
  const { pruning, habits: { lie } = {} } = node
  const told =
    pruning === undefined
      ? reply
      : changed(body, reply, (call, entry) => answeredPruned(call, entry, pruning))
  const sent = lie === undefined ? told : changed(body, told, lie)
  if (node.tap !== undefined) tapReplies(node.tap, body, sent)
  response.writeHead(200, { 'content-type': 'application/json' }).end(sent)
}

function tapReplies(tap: NonNullable<FaultyNode['tap']>, body: string, sent: string): void {
  const replies = new Map(entriesOf(sent).map((entry) => [entry.id, entry]))
  for (const call of entriesOf(body)) tap(call, replies.get(call.id) ?? {})
}

/** Applies the habits to a request without another fault. */
async function habitual(fault: Fault, habits: Habits = {}, target: string): Promise<Fault> {
  if (habits.rests !== undefined) return { kind: 'rest', seconds: habits.rests }
  if (fault === 'pass' && habits.standsAt !== undefined)
    return { kind: 'lag', blocks: Math.max(0, (await headOf(target)) - habits.standsAt) }
  return fault === 'pass' && habits.behind !== undefined ? { kind: 'lag', blocks: habits.behind } : fault
}

/** Calls that the node refuses by its own rules do not go on; the reply has the others with them. */
async function askRest(
  node: Decider,
  target: string,
  body: string,
  fault: Fault,
): Promise<string | undefined> {
  const entries = entriesOf(body)
  const refused = new Map(
    entries.flatMap((call): [unknown, WireEntry][] => {
      const refusal = refusalOf(node, call)
      return refusal === undefined ? [] : [[call.id, { jsonrpc: '2.0', id: call.id, ...refusal }]]
    }),
  )
  const put = (text: string) =>
    fault === 'fork'
      ? askForked(target, text, node.fork)
      : ask({ target, replica: node.replica }, text, fault)
  if (refused.size === 0) return put(body)
  const rest = entries.filter(({ id }) => !refused.has(id))
  const reply = rest.length === 0 ? '[]' : await put(JSON.stringify(rest))
  if (reply === undefined) return undefined
  const others = new Map(entriesOf(reply).map((entry) => [entry.id, entry]))
  const answers = entries.map(({ id }) => refused.get(id) ?? others.get(id))
  return JSON.stringify(body.trimStart().startsWith('[') ? answers : answers[0])
}

function refusalOf(node: Decider, call: WireEntry): Pick<WireEntry, 'error' | 'result'> | undefined {
  const error = node.habits?.refuse?.(call)
  if (error !== undefined) return { error }
  const own = node.habits?.answer?.(call)
  if (own !== undefined) return own
  return node.contradiction && contradicts(node.contradiction, node, call)
}

/** The reply to a request, each entry as `change` makes it. */
function changed(
  body: string,
  reply: string,
  change: (call: WireEntry, entry: WireEntry) => WireEntry,
): string {
  const replies = new Map(entriesOf(reply).map((entry) => [entry.id, entry]))
  const answers = entriesOf(body).map((call) => change(call, replies.get(call.id) ?? {}))
  return JSON.stringify(body.trimStart().startsWith('[') ? answers : answers[0])
}

/** The reply to be sent back; nothing when it is to be lost. */
async function ask(
  { target, replica }: { target: string; replica: FaultyNodeOptions['replica'] | undefined },
  body: string,
  fault: Fault,
): Promise<string | undefined> {
  if (fault === 'pass') return post(target, body)
  if (fault === 'duplicate') {
    await post(target, body)
    return post(target, body)
  }
  if (fault === 'lose') {
    await post(target, body)
    return undefined
  }
  if (typeof fault === 'string' || fault.kind === 'rest')
    throw new Error(`"${JSON.stringify(fault)}" is not for the node to answer`)
  if (fault.kind === 'lag') {
    return replica ? post(replica(fault.blocks), body) : askLagging(target, body, fault.blocks)
  }
  if (fault.kind === 'delay') {
    await new Promise((resolve) => setTimeout(resolve, fault.ms))
    return post(target, body)
  }
  await post(target, body)
  await fault.happens()
  return undefined
}

async function askForked(target: string, body: string, fork: Fork | undefined): Promise<string> {
  if (fork === undefined || (await headOf(target)) > fork.head + fork.staysFor) return post(target, body)
  return askAll(target, body, (call, reply) => answeredOnFork(call, reply, fork))
}

async function askLagging(target: string, body: string, blocks: number): Promise<string> {
  const head = Math.max(0, (await headOf(target)) - blocks)
  const entries = entriesOf(body).map((call) => askedAt(call, head))
  const asked = JSON.stringify(body.trimStart().startsWith('[') ? entries : entries[0])
  return askAll(target, asked, (call, reply) => answeredAt(call, reply, head))
}

/** The node's replies, each as `change` makes it. */
async function askAll(
  target: string,
  body: string,
  change: (call: WireEntry, reply: WireEntry) => WireEntry,
): Promise<string> {
  return changed(body, await post(target, body), change)
}

async function headOf(target: string): Promise<number> {
  const call = { jsonrpc: '2.0', id: 0, method: 'eth_blockNumber', params: [] }
  return Number(entriesOf(await post(target, JSON.stringify(call)))[0]?.result)
}

function entriesOf(body: string): WireEntry[] {
  const parsed = JSON.parse(body) as WireEntry | WireEntry[]
  return Array.isArray(parsed) ? parsed : [parsed]
}

async function post(target: string, body: string): Promise<string> {
  const answer = await fetch(target, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  return answer.text()
}

/**
 * The next broadcast, whichever of the nodes is asked, is taken and its reply is lost; that node is silent from then on. Returns a function
 * that makes the nodes answer again.
 */
export function loseNextBroadcast(nodes: readonly FaultyNode[], method: string): () => void {
  let silent: FaultyNode | undefined
  for (const node of nodes) {
    node.fault = (methods) => {
      if (silent === node) return 'drop'
      if (silent !== undefined || !methods.includes(method)) return 'pass'
      silent = node
      return 'lose'
    }
  }
  return () => {
    for (const node of nodes) node.fault = () => 'pass'
  }
}

/** Longer than the service waits until it broadcasts accepted bytes again, in ms. */
const REBROADCAST_MS = 31_000

/** A step of the service takes less than this, in ms of the machine's clock. */
const STEP_MS = 1_000

interface Watched {
  readonly clock: AdjustableClock
  /** The number of broadcasts so far. */
  readonly broadcasts: () => number
}

/**
 * Lets at least so much time pass, and resolves when the service has broadcast again. A step that was under way when the clock moved counts its
 * wait from the new time, so the clock then moves once more.
 */
export async function passUntilBroadcast({ clock, broadcasts }: Watched, ms: number): Promise<void> {
  const before = broadcasts()
  let moved = Date.now()
  clock.advance(ms)
  await until(
    async () => {
      if (Date.now() - moved > STEP_MS) {
        moved = Date.now()
        clock.advance(REBROADCAST_MS)
      }
      return broadcasts()
    },
    (count) => count > before,
  )
}
