import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import bodyParser from 'koa-bodyparser'
import { signPersonalMessage } from '../../../src/chains/evm/sign.ts'
import { compileContract } from '../../../src/contract/compile.ts'
import type { Contract } from '../../../src/contract/document.ts'
import { stringifyJson } from '../../../src/contract/exact-integers.ts'
import type { Data } from '../../../src/contract/operations.ts'
import type { HandlerMap } from '../../../src/http/handler.ts'
import { createRateLimiter } from '../../../src/http/rate-limit.ts'
import { createHttpServer } from '../../../src/http/server.ts'
import { systemClock } from '../../../src/lib/time.ts'
import { createLogger } from '../../../src/log.ts'
import { createSecp256k1Signer } from '../../../src/signers/secp256k1.ts'

/**
 * One of the servers that http.ts compares, by the first argument. Sends its port to the parent process, and the
 * CPU time that it has used, in microseconds, whenever it is asked.
 */

/** The message to the parent process. */
export interface Listening {
  readonly port: number
}

const PAGINATION = { current_page: 1, per_page: 10, total_items: 10 }
const RELAYERS: Data<'listRelayers'> = Array.from({ length: 10 }, (_, index) => ({
  id: `r-${index}`,
  name: `Relayer ${index}`,
  network: 'anvil',
  network_type: 'evm',
  address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  signer_id: 'dev',
  notification_id: 'ops',
  paused: false,
  system_disabled: false,
  policies: {
    eip1559_pricing: true,
    gas_limit_estimation: true,
    gas_price_cap: 100_000_000_000n,
    min_balance: 1n,
  },
}))

const signer = createSecp256k1Signer('bench', new Uint8Array(32).fill(7))

function missing(): never {
  throw new Error('not part of the benchmark')
}

/** Two operations of the contract with an answer, the others without. */
function handlersOf({ operations }: Contract): HandlerMap {
  const answering: Pick<HandlerMap, 'listRelayers' | 'signMessage'> = {
    listRelayers: async () => ({ data: RELAYERS, pagination: PAGINATION }),
    signMessage: async ({ body }) => ({ data: await signPersonalMessage(body.message, signer) }),
  }
  return { ...Object.fromEntries(operations.map(({ id }) => [id, missing])), ...answering } as HandlerMap
}

/** As in production: log lines are written, answers are not checked. The limit is there and out of reach. */
async function serveOurs(key: string): Promise<Listening> {
  const compiled = await compileContract()
  const server = await createHttpServer({
    ...compiled,
    handlers: handlersOf(compiled.contract),
    findKey: () => undefined,
    networkOf: async () => undefined,
    redeemTicket: async () => undefined,
    apiKeys: [key],
    host: '127.0.0.1',
    port: 0,
    limiter: createRateLimiter({ perSecond: 1_000_000, burst: 1_000_000, clock: systemClock }),
    validateResponses: false,
    log: createLogger({ level: 'info' }),
    clock: systemClock,
  })
  return { port: (await server.listen()).port }
}

/** For GET the bytes of the list, ready; for POST the body of the request, parsed and written again. */
async function serveBare(): Promise<Listening> {
  const list = stringifyJson({ success: true, data: RELAYERS, pagination: PAGINATION })
  const app = new Koa()
  app.use(bodyParser())
  app.use((context) => {
    if (context.method === 'GET') context.type = 'json'
    context.body = context.method === 'GET' ? list : (context.request.body as object)
  })
  const server = createServer(app.callback())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { port: (server.address() as AddressInfo).port }
}

const [kind, key = ''] = process.argv.slice(2)
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.(user + system)
})
// A benchmark that was interrupted leaves no server behind.
process.once('disconnect', () => process.exit())
process.send?.(kind === 'ours' ? await serveOurs(key) : await serveBare())
