/** A request to the service's API, with the API key of the plugin. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Begins with `/api/v1/`. */
  readonly path: string
  readonly body?: unknown
  readonly idempotencyKey?: string
  /** The user for whom the request is, for `user_limits`. */
  readonly userId?: string
}

/** The way from a plugin to the service. */
export interface HostApi {
  /** Rejects if there is no answer. */
  request(request: ApiRequest): Promise<{ readonly status: number; readonly body: unknown }>
}

/** Durable values and locks, which all processes of the service share. */
export interface HostStore {
  /** Null for a key that is not there. */
  get(key: string): Promise<unknown>
  /** Rejects if the store is full. */
  set(key: string, value: unknown, options?: { readonly ttlSec?: number }): Promise<unknown>
  del(key: string): Promise<unknown>
  withLock(
    key: string,
    work: () => Promise<unknown>,
    options?: { readonly ttlSec?: number; readonly onBusy?: 'throw' | 'skip' },
  ): Promise<unknown>
}

/** One call of a plugin, as its host describes it. */
export interface PluginCall {
  readonly api: HostApi
  readonly kv: HostStore
  /** The body of a POST. */
  readonly params: unknown
  readonly method: string
  /** The rest of the path, such as `/settle`. */
  readonly route: string
  readonly config?: unknown
  /**
   * By names in lower case. `x-relayer-api-key-id` and `x-relayer-caller-address` are by the host, and name
   * the caller's API key, or the address of one without.
   */
  readonly headers: Readonly<Record<string, readonly string[]>>
  /** The body as it arrived, where the entry of the plugin has `raw_body`. */
  readonly body?: string
}

/** What the plugin needs of the world. */
export interface World {
  /** The requests of one caller. */
  readonly api: HostApi
  /** Names what the process remembers of the service for all callers. */
  readonly memory: object
  readonly kv: HostStore
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly sleep: (ms: number) => Promise<unknown>
}

/**
 * The service, or the network behind it, did not answer. Nothing is known about what was asked, and the same
 * may be asked again.
 */
export class Unavailable extends Error {}

/** The caller asks for more than his share of what all callers of the plugin may ask of the service. */
export class Crowded extends Error {}

/** The service refused a request for good. */
export class ApiRefusal extends Error {
  /** The word for programs, e.g. `execution_reverted`. */
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * Codes of answers that say nothing about what was asked for: nothing was changed, or nobody knows if it was.
 */
const UNKNOWN_CODES = new Set([
  'internal_error',
  'network_unavailable',
  'request_timeout',
  'signer_unavailable',
])

/**
 * Makes a request to the service and returns the `data` of its answer.
 * @throws ApiRefusal if the service refuses
 * @throws Unavailable if it does not answer, or has no answer now
 */
export async function callApi({ api }: Pick<World, 'api'>, request: ApiRequest): Promise<unknown> {
  const { status, body } = await answerOf(api, request)
  const { success, data, error, code } = isRecord(body) ? body : {}
  if (status === 200 && success === true) return data
  const message = typeof error === 'string' ? error : `The service answered ${status}.`
  const word = typeof code === 'string' ? code : `http_${status}`
  if (status >= 500 || status === 429 || UNKNOWN_CODES.has(word)) throw new Unavailable(message)
  throw new ApiRefusal(word, message)
}

async function answerOf(api: HostApi, request: ApiRequest) {
  try {
    return await api.request(request)
  } catch (error) {
    throw error instanceof Crowded ? error : new Unavailable(textOf(error))
  }
}

/** Calls a node. */
export type Rpc = <Result>(method: string, params: readonly unknown[] | object) => Promise<Result>

/** A node was reached, and refused. */
export class NodeError extends Error {
  /** What the node says besides its sentence, such as the data with which a call reverted. */
  readonly data: unknown

  constructor(message: string, data?: unknown) {
    super(message)
    this.data = data
  }
}

/** JSON-RPC errors that say that no node answered, or that one cannot now. */
const NO_ANSWER = new Set([-33001, -33002, -32005, -32603])

interface WaitingCall {
  readonly method: string
  readonly params: readonly unknown[] | object
  settle(reply: unknown): void
  fail(error: unknown): void
}

/** The most calls of one request to the service. */
const MAX_BATCH = 20

/**
 * Calls the network of a relayer. The calls reject with {@link NodeError} if a node refuses, with {@link
 * Unavailable} if none answers. Calls that are made at the same moment are one request to the service, which
 * costs it less than several.
 */
export function rpcOf(world: Pick<World, 'api'>, relayerId: string): Rpc {
  const path = `/api/v1/relayers/${encodeURIComponent(relayerId)}/rpc`
  let waiting: WaitingCall[] = []

  async function send(calls: readonly WaitingCall[]): Promise<void> {
    const body = calls.map(({ method, params }, index) => ({ jsonrpc: '2.0', id: index, method, params }))
    const answer = await answerOf(world.api, { method: 'POST', path, body })
    const replies: readonly unknown[] = Array.isArray(answer.body) ? answer.body : []
    for (const [index, call] of calls.entries()) {
      const problem = isRecord(answer.body) ? answer.body.error : undefined
      if (answer.status === 200 && replies.length === calls.length) call.settle(replies[index])
      else
        call.fail(
          new Unavailable(
            `${call.method}: the service answered ${answer.status}${typeof problem === 'string' ? `: ${problem}` : ''}`,
          ),
        )
    }
  }

  function flush(): void {
    const calls = waiting
    waiting = []
    for (let at = 0; at < calls.length; at += MAX_BATCH) {
      const batch = calls.slice(at, at + MAX_BATCH)
      send(batch).catch((error: unknown) => {
        for (const call of batch) call.fail(error)
      })
    }
  }

  return async <Result>(method: string, params: readonly unknown[] | object) => {
    const reply = await new Promise<unknown>((settle, fail) => {
      if (waiting.length === 0) queueMicrotask(flush)
      waiting.push({ method, params, settle, fail })
    })
    const { result, error } = isRecord(reply) ? reply : {}
    if (!isRecord(error)) return result as Result
    const text = [error.message, error.description].filter((part) => typeof part === 'string').join(': ')
    if (NO_ANSWER.has(Number(error.code))) throw new Unavailable(`${method}: ${text}`)
    throw new NodeError(`${method}: ${text}`, error.data)
  }
}

/** Seconds after which the lock of a process that died is free. */
const LOCK_SECONDS = 10

/**
 * How long a request waits for another one that does the same: longer than the lock of a dead process lasts.
 */
const LOCK_WAIT_MS = 15_000
const LOCK_RETRY_MS = 25

/** The last work of this process for each lock. */
const turns = new Map<string, Promise<unknown>>()

/**
 * Does work alone among all processes, after waiting for its turn: in this process in the order of arrival,
 * however long that takes, and with other processes by a lock. If the lock expires, which it does after so
 * many seconds, two may work at the same time.
 */
export function locked<Result>(
  world: World,
  key: string,
  work: () => Promise<Result>,
  seconds = LOCK_SECONDS,
): Promise<Result> {
  const before = turns.get(key) ?? Promise.resolve()
  const turn = before.then(() => lockedAmongProcesses(world, key, work, seconds))
  const done = turn
    .catch(() => undefined)
    .then(() => {
      if (turns.get(key) === done) turns.delete(key)
    })
  turns.set(key, done)
  return turn
}

async function lockedAmongProcesses<Result>(
  world: World,
  key: string,
  work: () => Promise<Result>,
  ttlSec: number,
): Promise<Result> {
  const deadline = world.now() + LOCK_WAIT_MS
  for (;;) {
    let done: { readonly result: Result } | undefined
    const keep = async () => {
      done = { result: await work() }
    }
    await world.kv.withLock(key, keep, { ttlSec, onBusy: 'skip' })
    if (done) return done.result
    if (world.now() > deadline) throw new Unavailable('Another request for the same takes too long.')
    await world.sleep(LOCK_RETRY_MS)
  }
}

/** The text of anything thrown. */
export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** True for JSON objects. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
