import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { startOtlpReceiver } from '../../support/otlp-receiver.ts'
import { type ServiceProcess, startProcess } from '../../support/process.ts'
import { callService, RECEIVER, type Transaction } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const TRANSFER = { to: RECEIVER, value: 1, data: '0x', gas_limit: 21_000, speed: 'fast' }
const TRANSACTIONS = '/relayers/main/transactions'

let anvil: Anvil
let folder: string

beforeAll(async () => {
  anvil = await startAnvil()
  folder = await mkdtemp(join(tmpdir(), 'relayer-telemetry-'))
})

afterAll(async () => {
  await anvil.stop()
  await rm(folder, { recursive: true })
})

/** Starts the service, which writes at its end which modules it has loaded. */
async function start(name: string, env: Record<string, string>) {
  const coverage = join(folder, `${name}.coverage`)
  const lines: Line[] = []
  const service = await startProcess({
    rpcUrl: anvil.url,
    folder: join(folder, name),
    env: { NODE_V8_COVERAGE: coverage, ...env },
    // From the first line on: a failed export is told once a minute, and the start exports spans of its own.
    onLine: (line) => lines.push(JSON.parse(line) as Line),
  })
  return { service, lines, loaded: () => telemetryModules(coverage) }
}

/** The modules with the code of OpenTelemetry, or that import it, in the sources and in the built program. */
async function telemetryModules(coverage: string): Promise<string[]> {
  const files = await readdir(coverage)
  const texts = await Promise.all(files.map((file) => readFile(join(coverage, file), 'utf8')))
  const urls = texts.flatMap((text) => (JSON.parse(text) as Coverage).result.map(({ url }) => url))
  expect(urls.length).toBeGreaterThan(0)
  return urls.filter((url) => /open-?telemetry/.test(url))
}

interface Coverage {
  readonly result: readonly { readonly url: string }[]
}

interface Line {
  readonly msg: string
  readonly operation?: string
  readonly trace_id?: string
  readonly span_id?: string
}

async function sendAndConfirm({ url }: ServiceProcess): Promise<string> {
  const sent = await callService<Transaction>(url, { method: 'POST', path: TRANSACTIONS, body: TRANSFER })
  expect(sent.status).toBe(200)
  const { id } = sent.body.data
  await until(
    async () => {
      await anvil.rpc('evm_mine')
      return callService<Transaction>(url, { method: 'GET', path: `${TRANSACTIONS}/${id}` })
    },
    ({ body }) => body.data.status === 'confirmed',
  )
  return id
}

test('without an endpoint no module of OpenTelemetry is loaded, and log lines have no trace', async () => {
  const { service, lines, loaded } = await start('off', {})
  await sendAndConfirm(service)
  expect(await service.terminate()).toBe(0)
  expect(await loaded()).toEqual([])
  expect(lines.some(({ msg }) => msg === 'request')).toBe(true)
  expect(lines.filter(({ trace_id }) => trace_id !== undefined)).toEqual([])
})

test('OTEL_SDK_DISABLED switches everything off', async () => {
  const { service, loaded } = await start('disabled', {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    OTEL_SDK_DISABLED: 'true',
  })
  expect(await service.terminate()).toBe(0)
  expect(await loaded()).toEqual([])
})

test('log lines are exported with the trace of their request, and a stop exports the rest', async () => {
  const collector = await startOtlpReceiver()
  const { service, lines, loaded } = await start('on', {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    // Nothing but the stop exports spans.
    OTEL_BSP_SCHEDULE_DELAY: '600000',
  })
  const id = await sendAndConfirm(service)
  expect(collector.spans).toEqual([])
  expect(await service.terminate()).toBe(0)
  expect(await loaded()).not.toEqual([])
  expect(
    collector.spans.some(({ traceId, name }) => traceId === id.replaceAll('-', '') && name === 'transaction'),
  ).toBe(true)

  const line = lines.find(({ msg, operation }) => msg === 'request' && operation === 'sendTransaction')
  const request = collector.spans.find(
    ({ attributes }) => attributes['relayer.operation'] === 'sendTransaction',
  )
  expect(line).toMatchObject({ trace_id: request?.traceId, span_id: request?.spanId })
  const record = collector.logs.find(({ attributes }) => attributes.operation === 'sendTransaction')
  expect(record).toMatchObject({ body: 'request', severity: 'info', traceId: request?.traceId })
  expect(collector.metrics.find(({ name }) => name === 'transactions_created_total')?.points[0]?.value).toBe(
    1,
  )
  await collector.stop()
})

test.each([
  ['refuses connections', async () => undefined],
  ['never answers', startSilentServer],
])('a collector that %s costs neither transactions nor the time of a stop', async (what, open) => {
  const server = await open()
  const port = server === undefined ? 9 : (server.address() as AddressInfo).port
  const { service, lines } = await start(what.replaceAll(' ', '-'), {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_EXPORTER_OTLP_TIMEOUT: '300',
    OTEL_BSP_SCHEDULE_DELAY: '50',
    OTEL_BSP_MAX_QUEUE_SIZE: '4',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '2',
  })
  await sendAndConfirm(service)
  await until(
    async () => lines.map(({ msg }) => msg),
    (texts) => texts.includes('telemetry not exported; the service is not affected'),
  )
  const at = performance.now()
  expect(await service.terminate()).toBe(0)
  expect(performance.now() - at).toBeLessThan(15_000)
  server?.close()
})

/** Takes connections and says nothing. */
async function startSilentServer(): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => {}))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}
