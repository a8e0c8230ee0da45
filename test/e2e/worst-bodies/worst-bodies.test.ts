import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadContract } from '../../../src/contract/document.ts'
import type { OperationId } from '../../../src/contract/operations.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { plainSigner } from '../../support/plain-signer.ts'
import { API_KEY, DEV_KEYS, type Service, startService } from '../../support/service.ts'
import { startSolana, type TestSolana } from '../../support/solana/start-solana.ts'
import { solanaConfig } from '../../support/solana-scenario.ts'
import { startLedger, type TestLedger } from '../../support/stellar/start-ledger.ts'
import { stellarConfig } from '../../support/stellar-scenario.ts'
import { BODY_BYTES, worstBodiesOf } from './bodies.ts'
import { startTurnMeter } from './turn-meter.ts'

let anvil: Anvil
let ledger: TestLedger
let solana: TestSolana
let service: Service

beforeAll(async () => {
  anvil = await startAnvil({})
  ledger = await startLedger({ closeEveryMs: 'manual' })
  solana = await startSolana({ slotMs: 'manual' })
  const onStellar = stellarConfig({ urls: [ledger.url], passphrase: ledger.passphrase })
  const onSolana = solanaConfig(solana)
  service = await startService({
    rpcUrls: [anvil.url],
    networks: [...(onStellar.networks ?? []), ...(onSolana.networks ?? [])],
    signers: [...DEV_KEYS, '11'.repeat(32)].map((key, index) => plainSigner(`dev-${index}`, key)),
    relayers: [
      { id: 'evm', name: 'E', network: 'anvil', network_type: 'evm', signer_id: 'dev-1' },
      { ...onStellar.relayers?.[0], signer_id: 'dev-2', id: 'stellar', policies: { min_balance: 0 } },
      { ...onSolana.relayers?.[0], signer_id: 'dev-2', id: 'solana', policies: { min_balance: 0 } },
    ],
    env: { STORAGE_ENCRYPTION_KEY: Buffer.alloc(32, 'sealing').toString('base64') },
  })
}, 60_000)
afterAll(async () => {
  await service.stop()
  await solana.stop()
  await ledger.stop()
  await anvil.stop()
})

const IDS: Readonly<Record<string, string>> = {
  transaction_id: '00000000-0000-4000-8000-000000000000',
  notification_id: 'ops',
  signer_id: 'dev-0',
  network_id: 'evm:anvil',
}

interface Target {
  readonly id: OperationId
  readonly method: string
  readonly paths: readonly string[]
}

const contract = await loadContract()
const TARGETS: readonly Target[] = contract.operations.flatMap(({ id, method, path, body }) => {
  if (body === undefined) return []
  const filled = path.replace(/\{(\w+)\}/g, (all, name: string) => IDS[name] ?? all)
  const paths = filled.includes('{relayer_id}')
    ? ['evm', 'stellar', 'solana'].map((relayer) => filled.replace('{relayer_id}', relayer))
    : [filled]
  return [{ id, method: method.toUpperCase(), paths }]
})

async function ask({ method, path, text }: { method: string; path: string; text: string }) {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${API_KEY}`,
      'content-type': 'application/json',
      'idempotency-key': 'x'.repeat(200),
    },
    body: Buffer.from(text),
  })
  const answer = await response.text()
  return { status: response.status, answer }
}

/** The longest turn that a request may cause, in ms of CPU. */
const LONGEST_TURN_MS = 100

/** The first request of a kind is slow because the engine compiles and collects; what is slow each time is slow. */
const TRIES = 3

interface Row {
  readonly id: OperationId
  readonly path: string
  readonly name: string
  readonly ms: number
  readonly status: number
}

const rows: Row[] = []

async function measure(target: { method: string; path: string; text: string }) {
  const turns: number[] = []
  let status = 0
  while (turns.length < TRIES && !turns.some((ms) => ms < LONGEST_TURN_MS / 2)) {
    const meter = startTurnMeter()
    status = (await ask(target)).status
    turns.push(meter.stop())
  }
  return { status, ms: Math.min(...turns) }
}

test.each(TARGETS)(
  '$id has no long turn, whatever its body is',
  async ({ id, method, paths }) => {
    for (const [index, path] of paths.entries())
      for (const { name, text } of worstBodiesOf(id, index === 0)) {
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(BODY_BYTES)
        const { status, ms } = await measure({ method, path, text })
        rows.push({ id, path, name, ms, status })
        expect(status, `${path}: ${name}`).toBeLessThan(500)
        expect(ms, `${path}: ${name}`).toBeLessThan(LONGEST_TURN_MS)
      }
  },
  120_000,
)

afterAll(() => {
  const lines = rows
    .sort((one, other) => other.ms - one.ms)
    .slice(0, 20)
    .map(
      ({ id, path, name, ms, status }) =>
        `${ms.toFixed(1).padStart(7)} ms  ${status}  ${id}  ${path}  ${name}`,
    )
  process.stdout.write(`The longest turns, in ms of CPU:\n${lines.join('\n')}\n`)
})
