import { type ApiRequest, Crowded, type HostApi, isRecord, type World } from './host.ts'

// The plugin has one API key, whose rate and connections all callers share: they take turns here, so that one who asks for more than there is keeps
// none of the others from his share.

/** Work of all callers that runs at the same time. */
const MAX_RUNNING = 16

/** Work of one caller that waits. */
const MAX_WAITING = 200

/** The service refuses what comes too fast; it is asked again after this time, for so long. Nothing was done, so nothing is done twice. */
const RETRY_MS = 20
const PATIENCE_MS = 20_000

/** Runs work so that callers take turns. */
export interface FairQueue {
  /** @throws Crowded if too much of this caller waits */
  run<Result>(caller: string, work: () => Promise<Result>): Promise<Result>
  /** Those whom the service has refused for their rate, one after the other: nobody overtakes them, however little he asks for. */
  readonly line: { length: number; end: Promise<unknown> }
}

/** Creates an empty queue. */
export function createFairQueue({
  running: most = MAX_RUNNING,
  waiting: longest = MAX_WAITING,
} = {}): FairQueue {
  /** What waits, by its caller. The next one of the first caller is next, and then that caller is last. */
  const waiting = new Map<string, (() => void)[]>()
  let running = 0
  const line = { length: 0, end: Promise.resolve() as Promise<unknown> }

  function next(): void {
    const [first] = waiting
    if (running >= most || first === undefined) return
    const [caller, begins] = first
    waiting.delete(caller)
    const [begin, ...others] = begins
    if (others.length > 0) waiting.set(caller, others)
    begin?.()
  }

  return {
    line,
    async run(caller, work) {
      const before = waiting.get(caller) ?? []
      if (before.length >= longest)
        throw new Crowded('Too many requests of this caller wait. Ask again later.')
      await new Promise<void>((resolve) => {
        const begin = () => {
          running += 1
          resolve()
        }
        waiting.set(caller, [...before, begin])
        next()
      })
      try {
        return await work()
      } finally {
        running -= 1
        next()
      }
    },
  }
}

/**
 * Returns the API for one caller: his requests take turns with those of the others. A request that waits for a status takes no turn, because it would keep
 * the others waiting.
 */
export function apiFor(
  caller: string,
  { api, now, sleep }: Pick<World, 'api' | 'now' | 'sleep'>,
  queue: FairQueue,
): HostApi {
  return {
    request: (request) =>
      waits(request)
        ? api.request(request)
        : queue.run(caller, async () => {
            const answer = queue.line.length > 0 ? undefined : await api.request(request)
            return answer !== undefined && !isTooFast(answer) ? answer : inLine(request)
          }),
  }

  function inLine(request: ApiRequest) {
    const { line } = queue
    const deadline = now() + PATIENCE_MS
    const turn = line.end.then(async () => {
      for (;;) {
        const answer = await api.request(request)
        if (!isTooFast(answer) || now() > deadline) return answer
        await sleep(RETRY_MS)
      }
    })
    line.length += 1
    line.end = turn
      .catch(() => undefined)
      .finally(() => {
        line.length -= 1
      })
    return turn
  }
}

function waits({ path }: ApiRequest): boolean {
  return /[?&]wait=/.test(path)
}

/** True for a refusal by the rate limit, and not by the length of a relayer's queue. */
function isTooFast({ status, body }: { readonly status: number; readonly body: unknown }): boolean {
  if (status !== 429) return false
  const text = isRecord(body) ? String(body.error) : ''
  return !text.includes('max_queue_seconds')
}

/** Names who asks: the API key, or without one the address. */
export function callerIn(headers: Readonly<Record<string, readonly string[]>>): string {
  const [key = ''] = headers['x-relayer-api-key-id'] ?? []
  const [address] = headers['x-relayer-caller-address'] ?? []
  return address === undefined ? key : `${key} ${address}`
}
