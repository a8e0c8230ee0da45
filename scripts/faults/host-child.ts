/** The service as a child process whose clock can be moved. Started by `hostOutside`. */
import { flushCompileCache } from 'node:module'
import { startEngineThread } from '../../src/database/engines/embedded/start-engine.ts'
import { createLogger } from '../../src/log.ts'
import { createAdjustableClock } from '../../test/support/clock.ts'
import { startService } from '../../test/support/service.ts'
import type { ChildOptions, FromChild, ToChild } from './host.ts'

const { service, clockOffsetMs } = JSON.parse(process.argv[2] ?? '') as ChildOptions
const clock = createAdjustableClock(clockOffsetMs)
const log = createLogger({ level: 'debug' })
// The engine has the thread that it has in production: this process is bundled and killed, so there is nothing to share.
const { url, stop } = await startService({ ...service, clock, log, startEngine: startEngineThread })
// A process that is killed would keep what it has compiled to itself.
flushCompileCache()

process.on('message', (message: ToChild) => {
  if ('advanceMs' in message) clock.advance(message.advanceMs)
  else if ('stepMs' in message) clock.step(message.stepMs)
  else void stop().then(() => process.disconnect())
})
const ready: FromChild = { url }
process.send?.(ready)
