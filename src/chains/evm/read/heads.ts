import type { RequestOptions } from 'node:http'
import type { Logger } from 'pino'
import { type ClientOptions, WebSocket } from 'ws'
import { maskUrl } from '../../../lib/http/mask-url.ts'
import { backoffMs, type Clock } from '../../../lib/time.ts'
import type { RpcUrl } from '../../../networks/network.ts'
import type { HeadFeed } from '../../answer.ts'
import { trustedLookup } from '../../rpc/transport.ts'

interface HeadFeedOptions {
  /**
   * `ws://` or `wss://` urls; the feed moves to the next one if one fails. Without urls the feed is never
   * live.
   */
  readonly urls: readonly RpcUrl[]
  /** Expected time between blocks, in ms. */
  readonly blocktimeMs: number
  readonly clock: Clock
  readonly log: Logger
  /** From 0 up to but not including 1. Default `Math.random`. */
  readonly random?: () => number
  readonly listener: () => void
}

/** The feed counts as live although this many blocks are missing: networks skip slots now and then. */
const LIVE_BLOCKS = 4

/**
 * The feed counts as live for at least this time after a head, in ms: chains with several blocks a second
 * stutter.
 */
const MIN_LIVE_MS = 2_000

/** After this many blocks of silence, and at least this time in ms, the feed opens a new connection. */
const SILENT_BLOCKS = 20
const MIN_SILENT_MS = 60_000

/** The pause between two connections, in ms. */
const RECONNECT = { baseMs: 500, maxMs: 30_000 }

const SUBSCRIBE = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] })

/** Subscribes to new blocks (`eth_subscribe`, `newHeads`) and stays subscribed until it is stopped. */
export function createHeadFeed(options: HeadFeedOptions): HeadFeed {
  const { clock, blocktimeMs, listener, random = Math.random } = options
  const urls = options.urls.filter(({ weight }) => weight > 0).map(({ url }) => url)
  const stopping = new AbortController()
  let lastHeadAt = Number.NEGATIVE_INFINITY

  const onHead = () => {
    lastHeadAt = clock.monotonic()
    if (!stopping.signal.aborted) listener()
  }

  async function run() {
    let failures = 0
    for (let turn = 0; !stopping.signal.aborted; turn += 1) {
      const url = urls[turn % urls.length] ?? ''
      const { detail, heads } = await subscription({ ...options, url, onHead, signal: stopping.signal })
      lastHeadAt = Number.NEGATIVE_INFINITY
      if (stopping.signal.aborted) return
      failures = heads > 0 ? 1 : failures + 1
      options.log.warn({ endpoint: maskUrl(url), detail }, 'block feed ended')
      await clock.sleep(backoffMs(failures, { ...RECONNECT, random }), stopping.signal)
    }
  }

  if (urls.length > 0) void run()
  return {
    get live() {
      return clock.monotonic() - lastHeadAt < Math.max(MIN_LIVE_MS, LIVE_BLOCKS * blocktimeMs)
    },
    stop: () => stopping.abort(),
  }
}

interface SubscriptionOptions {
  readonly url: string
  readonly blocktimeMs: number
  readonly clock: Clock
  readonly onHead: () => void
  readonly signal: AbortSignal
}

/** The end of a subscription: its reason, and the number of heads that it delivered. */
interface Ended {
  readonly detail: string
  readonly heads: number
}

/** Runs one connection from its opening to its end. Never rejects. */
function subscription({ url, blocktimeMs, clock, onHead, signal }: SubscriptionOptions): Promise<Ended> {
  const { promise, resolve } = Promise.withResolvers<Ended>()
  const socket = open(url)
  if (socket === undefined) return Promise.resolve({ detail: 'the url cannot be opened', heads: 0 })
  const over = new AbortController()
  let heads = 0
  let heardAt = clock.monotonic()

  const end = (detail: string) => {
    over.abort()
    socket.terminate()
    resolve({ detail, heads })
  }
  socket.addEventListener('open', () => socket.send(SUBSCRIBE))
  socket.addEventListener('error', ({ message }) => end(`the connection failed: ${message}`))
  socket.addEventListener('close', () => end('the connection was closed'))
  socket.addEventListener('message', ({ data }) => {
    heardAt = clock.monotonic()
    const message = readMessage(data)
    if (message.kind === 'refused') return end(message.detail)
    if (message.kind !== 'head') return
    heads += 1
    onHead()
  })
  signal.addEventListener('abort', () => end('stopped'), { once: true, signal: over.signal })
  void watchSilence()

  /** A dead connection stays silent for ever: TCP notices only when something is sent. */
  async function watchSilence() {
    const limit = Math.max(MIN_SILENT_MS, SILENT_BLOCKS * blocktimeMs)
    while (!over.signal.aborted) {
      const rest = heardAt + limit - clock.monotonic()
      if (rest <= 0) return end('nothing was received for too long')
      await clock.sleep(rest, over.signal)
    }
  }

  return promise
}

/**
 * The longest message that is read, in bytes. A head has some hundred; a longer message ends the connection.
 */
const MAX_MESSAGE_BYTES = 64 * 1024

/** The longest handshake, in ms. */
const HANDSHAKE_MS = 10_000

const CONNECTION: ClientOptions & Pick<RequestOptions, 'lookup'> = {
  maxPayload: MAX_MESSAGE_BYTES,
  handshakeTimeout: HANDSHAKE_MS,
  // A small compressed message can become a large one.
  perMessageDeflate: false,
  followRedirects: false,
  lookup: trustedLookup,
}

/** The constructor throws for some urls, such as urls with a fragment. */
function open(url: string): WebSocket | undefined {
  try {
    return new WebSocket(url, CONNECTION)
  } catch {
    return undefined
  }
}

type Message = { readonly kind: 'head' | 'other' } | { readonly kind: 'refused'; readonly detail: string }

function readMessage(data: unknown): Message {
  try {
    const message = JSON.parse(String(data)) as { method?: unknown; error?: { message?: unknown } } | null
    if (message?.method === 'eth_subscription') return { kind: 'head' }
    if (message?.error) return { kind: 'refused', detail: String(message.error.message ?? 'refused') }
    return { kind: 'other' }
  } catch {
    return { kind: 'other' } // The feed only requested JSON.
  }
}
