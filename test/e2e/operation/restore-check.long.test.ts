import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { relayer } from '../../cli/spawn.ts'
import { startAnvil } from '../../support/anvil.ts'
import { API_KEY, RECEIVER, type Service, startService, type Transaction } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const PHRASE = 'test test test test test test test test test test test junk'
const ALL = '/relayers/pool/transactions'

/** An entry of the file of decisions. */
interface Listed {
  readonly transaction_id: string
  readonly included: boolean | null
  readonly hash?: string
}

test('relayer restore check lists, for each account of a relayer, what the chain has and an old backup does not', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-restore-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const anvil = await startAnvil({ args: ['--no-mining'] })
  onTestFinished(() => anvil.stop())
  const start = (name: string, inFlight: string) =>
    startService({
      rpcUrls: [anvil.url],
      dataDir: join(folder, name),
      signers: [
        { id: 'seed', type: 'mnemonic', config: { mnemonic: { type: 'plain', value: PHRASE }, index: 4 } },
      ],
      relayers: [
        {
          id: 'pool',
          network: 'anvil',
          network_type: 'evm',
          signer_id: 'seed',
          accounts: [{ signer_id: 'seed', count: 2 }],
        },
      ],
      env: { RELAYER_MAX_IN_FLIGHT: inFlight, RELAYER_HEALTH_INTERVAL_SECONDS: '5' },
    })
  const send = async (service: Service, value: number, more: object = {}) =>
    (await service.api<Transaction>('POST', ALL, { to: RECEIVER, value, speed: 'fast', ...more })).body.data
  const get = async (service: Service, { id }: Pick<Transaction, 'id'>) =>
    (await service.api<Transaction>('GET', `${ALL}/${id}`)).body.data
  const reach = (service: Service, one: Transaction, wanted: string, mines = true) =>
    until(
      async () => {
        if (mines) await anvil.rpc('evm_mine')
        return get(service, one)
      },
      ({ status }) => status === wanted,
    )

  const old = await start('old', '1')
  /** Two lanes, each with a confirmed transaction, one that is submitted and one that waits behind it. */
  const lanes = new Map<string, string>()
  for (let count = 0; lanes.size < 2 && count < 50; count += 1) {
    const lane = `lane-${count}`
    const first = await send(old, 1, { lane })
    if (!lanes.has(first.from)) lanes.set(first.from, lane)
    await reach(old, first, 'confirmed')
  }
  expect(lanes.size).toBe(2)
  const waiting: Transaction[] = []
  const valid_from = new Date(Date.now() + 3_600_000).toISOString()
  for (const lane of lanes.values()) {
    const submitted = await send(old, 20, { lane })
    await reach(old, submitted, 'submitted', false)
    waiting.push(await send(old, 300, { lane }))
  }
  const never = await send(old, 300, { valid_from })
  await old.stop()
  await cp(join(folder, 'old'), join(folder, 'new'), { recursive: true })

  const later = await start('old', '4')
  const paid = []
  for (const one of waiting) paid.push(await reach(later, one, 'confirmed'))
  await later.stop()

  const restored = await start('new', '1')
  onTestFinished(() => restored.stop())
  const out = join(folder, 'decisions.json')
  const env = { RELAYER_URL: restored.url, RELAYER_API_KEY: API_KEY }
  await relayer({ cwd: folder, args: ['restore', 'check', '--out', out, '--rpc', anvil.url], env })
  const read = async (file: string) => {
    const { decisions } = JSON.parse(await readFile(file, 'utf8')) as { decisions: Listed[] }
    return ({ id }: Transaction) => decisions.find(({ transaction_id }) => transaction_id === id)
  }
  const of = await read(out)
  expect(new Set(paid.map(({ from }) => from)).size).toBe(2)
  for (const one of paid) expect(of(one)).toMatchObject({ included: true, hash: one.hash })
  expect(of(never)).toMatchObject({ included: false })

  // A node without what the records have does not say that nothing was paid.
  const behind = await startAnvil({ args: ['--no-mining'] })
  onTestFinished(() => behind.stop())
  const other = join(folder, 'behind.json')
  await relayer({ cwd: folder, args: ['restore', 'check', '--out', other, '--rpc', behind.url], env })
  const ofOther = await read(other)
  for (const one of [...paid, never])
    expect(ofOther(one)).toMatchObject({
      included: null,
      seen: expect.stringContaining('fewer than the records'),
    })
}, 120_000)
