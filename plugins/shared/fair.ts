import { type ApiRequest, Crowded, type HostApi, isRecord, type World } from './host.ts'

// The plugin has one API key, whose rate and connections all callers share: they take turns here, so that one
// who asks for more than there is keeps none of the others from his share. All callers without a key have one
// share, which their addresses divide: addresses are free.

/** Who asks. */
export interface Caller {
  /** The id of the API key. */
  readonly key: string
  /** The address of a caller without one. */
  readonly address?: string | undefined
}

/** Work of all callers that runs at the same time. */
const MAX_RUNNING = 16

/** Work of one caller that waits. */
const MAX_WAITING = 200

/**
 * The service refuses what comes too fast; it is asked again after this time, for so long. Nothing was done,
 * so nothing is done twice.
 */
const RETRY_MS = 20
const PATIENCE_MS = 20_000

/** Runs work so that callers take turns. */
export interface FairQueue {
  /** @throws Crowded if too much of this caller waits */
  run<Result>(caller: Caller, work: () => Promise<Result>): Promise<Result>
  /**
   * Those whom the service has refused for their rate, one after the other: nobody overtakes them, however
   * little he asks for.
   */
  readonly line: { length: number; end: Promise<unknown> }
}

/** Creates an empty queue. */
export function createFairQueue({
  running: most = MAX_RUNNING,
  waiting: longest = MAX_WAITING,
} = {}): FairQueue {
  /**
   * What waits, by the key and then the address of its caller. The next one of the first is next, and then
   * that one is last.
   */
  const waiting = new Map<string, Map<string, readonly (() => void)[]>>()
  let running = 0
  const line = { length: 0, end: Promise.resolve() as Promise<unknown> }

  function next(): void {
    const [first] = waiting
    if (running >= most || first === undefined) return
    const [key, ofKey] = first
    const [[address, begins] = ['', []]] = ofKey
    const [begin, ...others] = begins
    waiting.delete(key)
    ofKey.delete(address)
    if (others.length > 0) ofKey.set(address, others)
    if (ofKey.size > 0) waiting.set(key, ofKey)
    begin?.()
  }

  return {
    line,
    async run({ key, address = '' }, work) {
      const before = waiting.get(key)?.get(address) ?? []
      if (before.length >= longest)
        throw new Crowded('Too many requests of this caller wait. Ask again later.')
      await new Promise<void>((resolve) => {
        const begin = () => {
          running += 1
          resolve()
        }
        waiting.set(key, (waiting.get(key) ?? new Map()).set(address, [...before, begin]))
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
 * Returns the API for one caller: his requests take turns with those of the others. A request that waits for
 * a status takes no turn, because it would keep the others waiting.
 */
export function apiFor(
  caller: Caller,
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

/** Reads who asks from the headers that the host sets. */
export function callerIn(headers: Readonly<Record<string, readonly string[]>>): Caller {
  const [key = ''] = headers['x-relayer-api-key-id'] ?? []
  const [address] = headers['x-relayer-caller-address'] ?? []
  return { key, address }
}
