import { limitConcurrency } from '../lib/concurrency/limit-concurrency.ts'
import type { Logger } from '../log.ts'
import { type ApiCaller, type CallOrigin, isWaitingRequest } from './api-call.ts'
import type { PluginConnection } from './child.ts'
import { type ApiMessage, type KvMessage, MAX_LINE, type PluginErrorFields } from './messages.ts'
import { MAX_DEPTH } from './plugin.ts'

/** The answer to a request, as the plugin gets it. */
export type Answer = { readonly value: string } | { readonly error: PluginErrorFields }

/** A request of a function to the API. */
export interface PluginTrace {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly duration_ms: number
}

/** What a call records of its requests. */
interface Recorder {
  readonly call: { readonly origin: CallOrigin }
  readonly traces: PluginTrace[]
  changes: number
}

/** The process that asks. */
interface Asking {
  /** Absent for what runs outside of a call. */
  readonly run: Recorder | undefined
  isAlive(): boolean
  readonly send: PluginConnection['send']
}

interface AnsweringDeps {
  readonly id: string
  readonly api: ApiCaller
  readonly kv: (message: KvMessage) => Promise<Answer>
  readonly log: Logger
}

/**
 * Requests of a plugin that are open at the same time: to the API, to the API for a status (`wait`; as many
 * as calls and hooks run), and to its store. Further ones wait, each kind for itself, so that calls which
 * wait for their transactions do not stop the others.
 */
const MAX_OPEN = { api: 200, wait: 256, kv: 200 }

/**
 * Requests without an answer, and the characters of them. Further ones are refused: the memory is that of the
 * service.
 */
const MAX_UNANSWERED = 10_000
const MAX_CHARACTERS = 64 * 1024 * 1024

const MAX_TRACES = 1_000

/** Creates what answers the requests of one plugin. The returned function never rejects. */
export function createAnswering({ id, api, kv, log }: AnsweringDeps) {
  const inTurn = {
    api: limitConcurrency(MAX_OPEN.api),
    wait: limitConcurrency(MAX_OPEN.wait),
    kv: limitConcurrency(MAX_OPEN.kv),
  }
  const unanswered = { requests: 0, characters: 0 }

  async function ask(message: ApiMessage | KvMessage, run: Recorder | undefined): Promise<Answer> {
    if (message.type === 'kv') return kv(message)
    const start = performance.now()
    // What runs outside of a call has no depth to count, so it cannot call plugins.
    const result = await api.call(message, run?.call.origin ?? { requestId: undefined, depth: MAX_DEPTH })
    const { method, path } = message
    // A request without an answer may have changed something.
    const isRead = 'isRead' in result ? result.isRead : method === 'GET'
    if (run !== undefined && !isRead) run.changes += 1
    if (run !== undefined && run.traces.length < MAX_TRACES && 'status' in result) {
      const duration = Math.round(performance.now() - start)
      run.traces.push({ method, path, status: result.status, duration_ms: duration })
    }
    return 'value' in result ? { value: result.value } : result
  }

  return async (message: ApiMessage | KvMessage, { run, isAlive, send }: Asking): Promise<void> => {
    const reply = (answer: Answer) => isAlive() && send({ type: 'answer', id: message.id, ...answer })
    const characters = sizeOf(message)
    // A single message of any length is answered.
    const isTooMuch = unanswered.characters + characters > MAX_CHARACTERS + MAX_LINE
    if (unanswered.requests >= MAX_UNANSWERED || isTooMuch) {
      const problem = `At most ${MAX_UNANSWERED} requests of a plugin, with ${MAX_CHARACTERS} characters, wait for an answer.`
      reply({ error: { message: problem, code: 'TOO_MANY_REQUESTS' } })
      return
    }
    unanswered.requests += 1
    unanswered.characters += characters
    try {
      await inTurn[kindOf(message)](async () => {
        if (isAlive()) reply(await ask(message, run))
      })
    } catch (error) {
      log.error({ err: error, plugin: id }, 'plugin request failed')
      reply({ error: { message: 'The service failed.', code: 'SERVICE_ERROR' } })
    } finally {
      unanswered.requests -= 1
      unanswered.characters -= characters
    }
  }
}

function kindOf(message: ApiMessage | KvMessage): keyof typeof MAX_OPEN {
  if (message.type === 'kv') return 'kv'
  return isWaitingRequest(message) ? 'wait' : 'api'
}

function sizeOf(message: ApiMessage | KvMessage): number {
  return message.type === 'kv'
    ? message.key.length + (message.value?.length ?? 0)
    : message.path.length + (message.body?.length ?? 0)
}
