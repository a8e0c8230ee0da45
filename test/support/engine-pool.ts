import { Worker } from 'node:worker_threads'
import type { EngineAnswer, EngineRequest } from '../../src/database/engines/embedded/engine-messages.ts'
import type { StartedEngine } from '../../src/database/engines/embedded/start-engine.ts'

const PROGRAM = new URL('../../src/database/engines/embedded/engine-thread.ts', import.meta.url)

/** Threads whose engine is closed. Each holds the memory of that engine, some 100 MB, until it opens the next one. */
const idle: Worker[] = []
const MAX_IDLE = 2

/**
 * Starts the engine of a service in a thread that an earlier service of this process has left behind. A new thread loads the program of
 * the engine and compiles it, which takes half of the CPU time of a start. Whatever else a thread could leave behind is the memory of its
 * engine, and the next one has its own.
 */
export function startPooledEngine(): StartedEngine {
  const thread = idle.pop() ?? new Worker(PROGRAM)
  thread.ref()
  const unanswered: EngineRequest['kind'][] = []
  const listeners: ((answer: EngineAnswer) => void)[] = []
  const ended = Promise.withResolvers<Error>()
  let isClosed = false

  function onMessage(answer: EngineAnswer): void {
    if (unanswered.shift() === 'close' && answer.kind === 'done') isClosed = true
    for (const listener of listeners) listener(answer)
  }
  function onExit(code: number): void {
    ended.resolve(new Error(`the thread of the embedded database ended with code ${code}`))
  }

  thread.on('message', onMessage)
  thread.on('error', ended.resolve)
  thread.on('exit', onExit)
  return {
    port: {
      postMessage(request, transfer) {
        unanswered.push(request.kind)
        thread.postMessage(request, transfer)
      },
      on: (_event, listener) => listeners.push(listener),
    },
    onEnd: (listener) => void ended.promise.then(listener),
    async stop() {
      thread.off('message', onMessage)
      thread.off('error', ended.resolve)
      thread.off('exit', onExit)
      // An engine that did not close may still work.
      if (!isClosed || idle.length >= MAX_IDLE) return void (await thread.terminate())
      thread.unref()
      idle.push(thread)
    },
  }
}
