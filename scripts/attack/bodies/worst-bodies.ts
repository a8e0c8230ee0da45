import { startSolana, type TestSolana } from '../../../simulators/solana/start-solana.ts'
import { startLedger, type TestLedger } from '../../../simulators/stellar/start-ledger.ts'
import { loadContract } from '../../../src/contract/document.ts'
import type { OperationId } from '../../../src/contract/operations.ts'
import { startAnvil } from '../../../test/support/anvil.ts'
import { API_KEY, DEV_KEYS, plainSigner, type Service, startService } from '../../../test/support/service.ts'
import { solanaConfig } from '../../../test/support/solana-scenario.ts'
import { stellarConfig } from '../../../test/support/stellar-scenario.ts'
import { type Attack, createTally, type Report, type Tally } from '../attack.ts'
import { BODY_BYTES, worstBodiesOf } from './worst-bodies-of.ts'

/** Measures the CPU time of this thread between two turns of the event loop, which the load of the machine hardly changes. */
export interface TurnMeter {
  /** Returns the longest turn since the start, in ms of CPU, and ends the measurement. */
  stop(): number
}

/** Starts a measurement. Callbacks of `setImmediate` mark the turns, so the loop does not sleep meanwhile. */
function startTurnMeter(): TurnMeter {
  let worst = 0
  let last = process.threadCpuUsage()
  let isRunning = true
  const mark = () => {
    const { user, system } = process.threadCpuUsage(last)
    worst = Math.max(worst, user + system)
    last = process.threadCpuUsage()
    if (isRunning) setImmediate(mark)
  }
  setImmediate(mark)
  return {
    stop: () => {
      isRunning = false
      return worst / 1000
    },
  }
}

/**
 * Sends every operation the bodies that cost it the most, and checks that none keeps the event loop from other callers. The bodies are the
 * same for every seed.
 */
export const worstBodies: Attack = { name: 'worst-bodies', deadlineMs: 600_000, run }

/** The longest turn that a request may cause, in ms of CPU. */
const LONGEST_TURN_MS = 100

/** The first request of a kind is slow because the engine compiles and collects; what is slow each time is slow. */
const TRIES = 3

/** The table of the slowest shows so many. */
const SHOWN_ROWS = 20

const IDS: Readonly<Record<string, string>> = {
  transaction_id: '00000000-0000-4000-8000-000000000000',
  notification_id: 'ops',
  signer_id: 'dev-0',
  network_id: 'evm:anvil',
}

async function run(): Promise<Report> {
  const tally = createTally()
  await using opened = new AsyncDisposableStack()
  const anvil = opened.adopt(await startAnvil(), ({ stop }) => stop())
  const ledger = opened.adopt(await startLedger({ closeEveryMs: 'manual' }), ({ stop }) => stop())
  const solana = opened.adopt(await startSolana({ slotMs: 'manual' }), ({ stop }) => stop())
  const service = opened.adopt(await startOn(anvil.url, ledger, solana), ({ stop }) => stop())
  const rows: Row[] = []
  for (const target of await readTargets()) {
    if (tally.isFull()) break
    rows.push(...(await measureTarget(tally, service, target)))
  }
  for (const line of table(rows)) tally.note(line)
  return tally.report()
}

function startOn(anvilUrl: string, ledger: TestLedger, solana: TestSolana): Promise<Service> {
  const onStellar = stellarConfig({ urls: [ledger.url], passphrase: ledger.passphrase })
  const onSolana = solanaConfig(solana)
  return startService({
    rpcUrls: [anvilUrl],
    networks: [...(onStellar.networks ?? []), ...(onSolana.networks ?? [])],
    signers: [...DEV_KEYS, '11'.repeat(32)].map((key, index) => plainSigner(`dev-${index}`, key)),
    relayers: [
      {
        id: 'evm',
        name: 'E',
        network: 'anvil',
        network_type: 'evm',
        signer_id: 'dev-1',
        policies: { wallet_rpc: true },
      },
      { ...onStellar.relayers?.[0], signer_id: 'dev-2', id: 'stellar', policies: { min_balance: 0 } },
      { ...onSolana.relayers?.[0], signer_id: 'dev-2', id: 'solana', policies: { min_balance: 0 } },
    ],
    env: { STORAGE_ENCRYPTION_KEY: Buffer.alloc(32, 'sealing').toString('base64') },
  })
}

interface Target {
  readonly id: OperationId
  readonly method: string
  /** One path for each chain where the operation is about a relayer. */
  readonly paths: readonly string[]
}

async function readTargets(): Promise<Target[]> {
  const { operations } = await loadContract()
  return operations.flatMap(({ id, method, path, body }) => {
    if (body === undefined) return []
    const filled = path.replace(/\{(\w+)\}/g, (all, name: string) => IDS[name] ?? all)
    const paths = filled.includes('{relayer_id}')
      ? ['evm', 'stellar', 'solana'].map((relayer) => filled.replace('{relayer_id}', relayer))
      : [filled]
    return [{ id, method, paths }]
  })
}

interface Row {
  readonly id: OperationId
  readonly path: string
  readonly name: string
  readonly ms: number
  readonly status: number
}

async function measureTarget(tally: Tally, service: Service, { id, method, paths }: Target): Promise<Row[]> {
  const rows: Row[] = []
  for (const [index, path] of paths.entries())
    for (const { name, text } of worstBodiesOf(id, index === 0)) {
      const { status, ms } = await measure(() => ask({ url: `${service.url}${path}`, method, text }))
      rows.push({ id, path, name, ms, status })
      const bytes = Buffer.byteLength(text)
      tally.check(bytes <= BODY_BYTES, () => `${id}: the body "${name}" has ${bytes} bytes`)
      tally.check(status < 500, () => `${path}: ${name} was answered ${status}`)
      tally.check(ms < LONGEST_TURN_MS, () => `${path}: ${name} took ${ms.toFixed(1)} ms of CPU in one turn`)
    }
  return rows
}

async function measure(request: () => Promise<number>): Promise<{ status: number; ms: number }> {
  const turns: number[] = []
  let status = 0
  while (turns.length < TRIES && !turns.some((ms) => ms < LONGEST_TURN_MS / 2)) {
    const meter = startTurnMeter()
    status = await request()
    turns.push(meter.stop())
  }
  return { status, ms: Math.min(...turns) }
}

interface Question {
  readonly url: string
  readonly method: string
  readonly text: string
}

async function ask({ url, method, text }: Question): Promise<number> {
  const response = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${API_KEY}`,
      'content-type': 'application/json',
      'idempotency-key': 'x'.repeat(200),
    },
    body: Buffer.from(text),
  })
  await response.text()
  return response.status
}

function table(rows: readonly Row[]): string[] {
  return rows
    .toSorted((one, other) => other.ms - one.ms)
    .slice(0, SHOWN_ROWS)
    .map(
      ({ id, path, name, ms, status }) =>
        `${ms.toFixed(1).padStart(7)} ms  ${status}  ${id}  ${path}  ${name}`,
    )
}
