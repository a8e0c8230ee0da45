import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startSolana } from '../../../simulators/solana/start-solana.ts'
import {
  createWallet,
  transfer as payment,
  type Step,
  signContent,
  type Wallet,
} from '../../../simulators/solana/wallet.ts'
import type { Schemas } from '../../../src/contract/operations.ts'
import { AS_PAYER, OTHER, SELF } from '../../chains/solana/build.ts'
import { relayer } from '../../cli/spawn.ts'
import { type Habits, startFaultyNode } from '../../support/faulty-node.ts'
import { API_KEY, startService } from '../../support/service.ts'
import {
  broadcastDirectly,
  MAIN,
  RECEIVER,
  SOL,
  solanaConfig,
  solanaScenarioOf,
  transfer,
} from '../../support/solana-scenario.ts'
import { until } from '../../support/until.ts'

/** A network with one node that can fail, and services of relayer `main` on folders of the same machine. */
async function setUp(policies: object = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-restored-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const solana = await startSolana({ slotMs: 'manual' })
  onTestFinished(() => solana.stop())
  const node = await startFaultyNode(solana.url)
  onTestFinished(() => node.stop())
  solana.airdrop(MAIN, 10n * SOL)
  solana.airdrop(RECEIVER, SOL)
  const start = async (name: string, healthSeconds = '5') => {
    const env = { RELAYER_MAX_IN_FLIGHT: '1', RELAYER_HEALTH_INTERVAL_SECONDS: healthSeconds }
    const config = solanaConfig(solana, { urls: [node.url], policies })
    return solanaScenarioOf(solana, await startService({ ...config, dataDir: join(folder, name), env }))
  }
  const received = () => (solana.account(RECEIVER)?.lamports ?? 0n) - SOL
  const backUp = () => cp(join(folder, 'old'), join(folder, 'new'), { recursive: true })
  /** The backup has a payment of 20 that waits; the chain includes it. */
  const payAfterBackup = async () => {
    const old = await start('old')
    const first = await old.send(transfer(1n))
    await old.reach(first.id, 'submitted')
    const paid = await old.send(transfer(20n))
    await old.service.stop()
    await backUp()
    const later = await start('old')
    for (const { id } of [first, paid]) await later.tickUntil(id, 'confirmed')
    const { hash } = await later.get(paid.id)
    await later.service.stop()
    expect(received()).toBe(21n)
    return { first, paid, hash }
  }
  return { folder, solana, node, start, received, backUp, payAfterBackup }
}

type Story = Awaited<ReturnType<Awaited<ReturnType<typeof setUp>>['start']>>

const relayerOf = async ({ service }: Story) =>
  (await service.api<Schemas['Relayer']>('GET', '/relayers/main')).body.data

const accept = ({ service }: Story) =>
  service.api<Schemas['Relayer']>('POST', '/relayers/main/accept-nonces', { reason: 'compared' })

const disabled = (story: Story) =>
  until(
    () => {
      story.solana.tick()
      return relayerOf(story)
    },
    ({ system_disabled }) => system_disabled === true,
  )

/** A node without the method. */
const WITHOUT_HISTORY: Habits = {
  refuse: ({ method }) =>
    method === 'getSignaturesForAddress' ? { code: -32601, message: 'Method not found' } : undefined,
}

test('what an old backup has not signed and the chain includes is not paid again, and goes on when an operator has accepted it', async () => {
  const { solana, start, received, payAfterBackup } = await setUp()
  const { first, paid, hash } = await payAfterBackup()
  const restored = await start('new')
  onTestFinished(() => restored.service.stop())
  expect((await disabled(restored)).disabled_reason).toMatchObject({
    type: 'UnexplainedTransactions',
    details: expect.stringContaining(`${hash}`),
  })
  await restored.tickUntil(first.id, 'confirmed')
  solana.tick(400)
  expect((await restored.get(paid.id)).status).toBe('pending')
  const path = `/relayers/main/transactions/${paid.id}/decision`
  await restored.service.api('POST', path, { included: true, hash, reason: 'paid after the backup' })
  expect(await restored.get(paid.id)).toMatchObject({ status: 'confirmed', hash })
  expect((await accept(restored)).body.data).toMatchObject({ system_disabled: false })
  const next = await restored.send(transfer(300n))
  await restored.tickUntil(next.id, 'confirmed')
  expect(received()).toBe(321n)
}, 120_000)

test('where other programs send from the account, nothing is compared, and an old backup pays again', async () => {
  const { start, received, payAfterBackup, node } = await setUp({ shared_account: true })
  const { paid } = await payAfterBackup()
  const restored = await start('new')
  onTestFinished(() => restored.service.stop())
  await restored.tickUntil(paid.id, 'confirmed')
  expect(received()).toBe(41n)
  expect(node.calls.get('getSignaturesForAddress')).toBeUndefined()
}, 120_000)

test('relayer restore check lists what the chain has and an old backup does not, ready to be applied', async () => {
  const { folder, solana, start, received, backUp } = await setUp()
  const old = await start('old')
  const first = await old.send(transfer(1n))
  await old.tickUntil(first.id, 'confirmed')
  // Blocks have times in whole seconds.
  await until(
    async () => Date.now(),
    (now) => now > Date.parse(first.created_at) + 2_000,
  )
  const sent = await old.send(transfer(20n))
  await old.reach(sent.id, 'submitted')
  const soon = { valid_from: new Date(Date.now() + 3_600_000).toISOString() }
  const [paid, same, never] = [
    await old.send(transfer(300n)),
    await old.send(transfer(300n, soon)),
    await old.send(transfer(4_000n, soon)),
  ]
  await old.service.stop()
  await backUp()
  const later = await start('old')
  const { hash } = await later.tickUntil(paid.id, 'confirmed')
  await later.service.stop()
  expect(received()).toBe(321n)
  solana.tick(40)

  const restored = await start('new')
  onTestFinished(() => restored.service.stop())
  await disabled(restored)
  const env = { RELAYER_URL: restored.service.url, RELAYER_API_KEY: API_KEY }
  const check = async (name: string, url: string) => {
    const out = join(folder, name)
    await relayer({ cwd: folder, args: ['restore', 'check', '--out', out, '--rpc', url], env })
    const { decisions } = JSON.parse(await readFile(out, 'utf8')) as { decisions: Listed[] }
    return ({ id }: { readonly id: string }) => decisions.find(({ transaction_id }) => transaction_id === id)
  }
  const found = await check('decisions.json', solana.url)
  expect(found(paid)).toMatchObject({ included: true, hash })
  // One transaction of the chain is one of the records: the oldest.
  for (const one of [same, never])
    expect(found(one)).toMatchObject({ included: false, seen: expect.stringContaining('None of the') })

  const other = await startSolana({ slotMs: 'manual' })
  onTestFinished(() => other.stop())
  expect((await check('other.json', other.url))(paid)).toMatchObject({
    included: null,
    seen: expect.stringContaining('it lists no earlier transaction of the account that the records have'),
  })

  const { out } = await relayer({
    cwd: folder,
    args: ['restore', 'decide', join(folder, 'decisions.json')],
    env,
  })
  expect(out).toContain(`${paid.id}  was included`)
  expect(await restored.get(paid.id)).toMatchObject({ status: 'confirmed', hash })
  expect((await restored.get(never.id)).status).not.toBe('confirmed')
  expect(received()).toBe(321n)
}, 120_000)

/** An entry of the file of decisions. */
interface Listed {
  readonly transaction_id: string
  readonly included: boolean | null
}

test('while no endpoint tells the history, what waits is not signed, and nothing is disabled', async () => {
  const { solana, start, received, payAfterBackup, node } = await setUp()
  const { paid, hash } = await payAfterBackup()
  node.habits = WITHOUT_HISTORY
  const restored = await start('new')
  onTestFinished(() => restored.service.stop())
  const { status } = await until(
    () => {
      solana.tick()
      return restored.get(paid.id)
    },
    ({ status_reason: reason }) => reason?.startsWith('Waiting for the history of the account') === true,
  )
  expect(status).toBe('pending')
  expect(await relayerOf(restored)).toMatchObject({ system_disabled: false })
  expect(received()).toBe(21n)
  node.habits = undefined
  expect((await disabled(restored)).disabled_reason?.details).toContain(hash)
  expect(received()).toBe(21n)
}, 120_000)

test('what an old backup knows only by an expired version is undecided, and is not paid again', async () => {
  const { folder, solana, start, received, backUp } = await setUp()
  const old = await start('old')
  const { id } = await old.send(transfer(7n))
  await old.reach(id, 'submitted')
  await old.service.stop()
  await backUp()
  solana.dropPending()
  solana.tick(400)
  const later = await start('old')
  const { attempts = [] } = await later.tickUntil(id, 'confirmed')
  expect(attempts.map(({ outcome }) => outcome)).toEqual(['expired', 'mined'])
  await later.service.stop()

  const restored = await start('new')
  const { status } = await until(
    () => {
      solana.tick()
      return restored.get(id)
    },
    ({ status_reason: reason }) => reason?.includes(`relayer tx decide ${id}`) === true,
  )
  expect(status).toBe('submitted')
  await disabled(restored)
  const refused = await accept(restored)
  expect(refused).toMatchObject({ status: 400, body: { code: 'relayer_has_transactions' } })
  expect(received()).toBe(7n)
  await restored.service.stop()

  await relayer({ cwd: folder, args: ['init'] })
  const args = ['tx', 'decide', id, '--included', '--reason', 'the receiver has it']
  const decided = await relayer({ cwd: folder, args, env: { DATA_DIR: join(folder, 'new') } })
  expect(decided).toMatchObject({ code: 0, err: '' })
  const after = await start('new')
  onTestFinished(() => after.service.stop())
  await after.tickUntil(id, 'confirmed')
  expect((await accept(after)).body.data).toMatchObject({ system_disabled: false })
  const next = await after.send(transfer(300n))
  await after.tickUntil(next.id, 'confirmed')
  expect(received()).toBe(307n)
}, 120_000)

test('transactions that the service only signs, payments of others to the account, and co-signed ones need no explanation', async () => {
  const { solana, node, start, received } = await setUp()
  const story = await start('old')
  onTestFinished(() => story.service.stop())
  const { blockhash } = solana.blocks.at(-2) ?? { blockhash: '' }
  const friend = createWallet()
  solana.airdrop(friend.address, SOL)
  const sign = async (steps: readonly Step[], ...cosigners: readonly Wallet[]) => {
    const { base64: transaction } = signContent({ signers: [AS_PAYER, ...cosigners], blockhash, steps })
    const path = '/relayers/main/sign-transaction'
    const answer = await story.service.api<Schemas['SignedSolanaTransaction']>('POST', path, { transaction })
    return answer.body.data.transaction
  }
  const gift = signContent({ signers: [friend], blockhash, steps: [payment(friend.address, SELF, 3n)] })
  for (const transaction of [
    await sign([payment(SELF, OTHER, 5n)]),
    await sign([payment(friend.address, OTHER, 7n)], friend),
    gift.base64,
  ])
    await broadcastDirectly(solana, transaction)
  solana.tick(10)
  const calls = () => node.calls.get('getSignaturesForAddress') ?? 0
  const before = calls()
  const waiting = await story.send(transfer(2n, { valid_from: new Date(Date.now() + 3_000).toISOString() }))
  await story.tickUntil(waiting.id, 'confirmed')
  expect(calls()).toBeGreaterThan(before)
  expect(await relayerOf(story)).toMatchObject({ system_disabled: false })
  expect(received()).toBe(14n)
}, 120_000)

test('a transaction that is sent immediately asks for no history', async () => {
  const { node, start } = await setUp()
  const story = await start('old', '3600')
  onTestFinished(() => story.service.stop())
  const asked: (number | undefined)[] = []
  for (const lamports of [1n, 2n, 3n]) {
    const { id } = await story.send(transfer(lamports))
    await story.tickUntil(id, 'confirmed')
    asked.push(node.calls.get('getSignaturesForAddress'))
  }
  // At the start the service compares the account with the chain.
  expect(asked).toEqual([1, 1, 1])
}, 120_000)
