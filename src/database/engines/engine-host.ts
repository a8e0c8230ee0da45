import { createEngine } from './create-engine.ts'
import type { Engine } from './engine.ts'
import type { EngineAnswer, EngineRequest, HostPort } from './engine-messages.ts'
import { LogLostError } from './watch-log.ts'

/** Runs the engine for the client at the other end of the port: in this thread, which waits for it and for the disk. */
export function hostEngine(port: HostPort): void {
  let engine: Engine | undefined
  let previous: Promise<void> = Promise.resolve()

  async function serve(request: EngineRequest): Promise<Uint8Array> {
    if (request.kind === 'open') {
      engine = await createEngine(request.options)
      return new Uint8Array(0)
    }
    if (engine === undefined) throw new Error('the engine is not open')
    if (request.kind === 'exchange') return engine.exchange(request.message)
    await engine.close()
    return new Uint8Array(0)
  }

  async function answer(request: EngineRequest): Promise<void> {
    const answered: EngineAnswer = await serve(request).then(
      (bytes) => ({ kind: 'done', bytes }),
      (error: unknown) => ({
        kind: 'failed',
        message: messageOf(error instanceof LogLostError ? error.cause : error),
        isLost: error instanceof LogLostError,
      }),
    )
    port.postMessage(answered, answered.kind === 'done' ? [answered.bytes.buffer as ArrayBuffer] : [])
  }

  port.on('message', (request: EngineRequest) => {
    previous = previous.then(() => answer(request))
  })
}

/** The errors of the engine's runtime are not all instances of Error. */
function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
