import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startSolana, type TestSolana } from '../../../simulators/solana/start-solana.ts'
import { startLedger, type TestLedger } from '../../../simulators/stellar/start-ledger.ts'
import type { Schemas } from '../../../src/contract/operations.ts'
import { type Anvil, ON_ANVIL, startAnvil } from '../../support/anvil.ts'
import {
  type Answer,
  DEV_KEYS,
  plainSigner,
  RECEIVER,
  type Service,
  startService,
  type Transaction,
} from '../../support/service.ts'
import * as solanaWorld from '../../support/solana-scenario.ts'
import * as stellarWorld from '../../support/stellar-scenario.ts'
import { until } from '../../support/until.ts'

const CHAINS = ['evm', 'stellar', 'solana'] as const
type ChainName = (typeof CHAINS)[number]

let anvil: Anvil
let ledger: TestLedger
let solana: TestSolana
let service: Service

const startEvm = (port: string, timestamp: string) =>
  startAnvil({ args: ['--port', port, '--timestamp', timestamp, '--no-mining'] })

beforeAll(async () => {
  anvil = await startEvm('0', '1700000000')
  ledger = await startLedger({ closeEveryMs: 'manual' })
  ledger.fund(stellarWorld.MAIN.publicKey(), 1_000n * stellarWorld.XLM)
  ledger.fund(stellarWorld.RECEIVER, 100n * stellarWorld.XLM)
  solana = await startSolana({ slotMs: 'manual' })
  solana.airdrop(solanaWorld.MAIN, 10n * solanaWorld.SOL)
  solana.airdrop(solanaWorld.RECEIVER, solanaWorld.SOL)
  const onStellar = stellarWorld.stellarConfig({ urls: [ledger.url], passphrase: ledger.passphrase })
  const onSolana = solanaWorld.solanaConfig(solana)
  const named = (id: string, relayers: readonly object[] = []) =>
    relayers.map((relayer) => ({ ...relayer, id, signer_id: id }))
  service = await startService({
    rpcUrls: [anvil.url],
    network: { required_confirmations: 2 },
    networks: [...(onStellar.networks ?? []), ...(onSolana.networks ?? [])],
    signers: [
      plainSigner('evm', DEV_KEYS[0]),
      plainSigner('stellar', stellarWorld.MAIN.secret()),
      plainSigner('solana', Buffer.from(solanaWorld.seedOf('main')).toString('hex')),
    ],
    relayers: [
      { id: 'evm', name: 'EVM', signer_id: 'evm', ...ON_ANVIL },
      ...named('stellar', onStellar.relayers),
      ...named('solana', onSolana.relayers),
    ],
  })
}, 120_000)
afterAll(async () => {
  await service?.stop()
  await solana?.stop()
  await ledger?.stop()
  await anvil?.stop()
})

const PAYMENTS: Readonly<Record<ChainName, object>> = {
  evm: { to: RECEIVER, value: '1', speed: 'fast' },
  stellar: stellarWorld.payment(1),
  solana: solanaWorld.transfer(1n),
}

/** Makes the next block of a chain. */
const NEXT_BLOCK: Readonly<Record<ChainName, () => unknown>> = {
  evm: () => anvil.rpc('evm_mine'),
  stellar: () => ledger.close(),
  solana: () => solana.tick(),
}

type Waiting = Transaction & { readonly after?: Schemas['After']; readonly awaits_transaction?: true }

function post(
  chain: ChainName,
  body: object = {},
  { query = '', headers }: { readonly query?: string; readonly headers?: Record<string, string> } = {},
): Promise<Answer<Waiting>> {
  const request = { ...PAYMENTS[chain], ...body }
  return service.api<Waiting>('POST', `/relayers/${chain}/transactions${query}`, request, headers)
}

async function send(chain: ChainName, body: object = {}): Promise<Waiting> {
  const { status, body: answer } = await post(chain, body)
  if (status !== 200) throw new Error(`refused: ${answer.error}`)
  return answer.data
}

const pathOf = ({ id, relayer_id }: Transaction) => `/relayers/${relayer_id}/transactions/${id}`
const get = async (one: Transaction) => (await service.api<Waiting>('GET', pathOf(one))).body.data
const cancel = (one: Transaction) => service.api('DELETE', pathOf(one))

/** Waits for a status; `blocks`: with a block of its chain before each look. */
function reach(one: Transaction, status: string, { blocks = true } = {}): Promise<Waiting> {
  return until(
    async () => {
      if (blocks) await NEXT_BLOCK[one.relayer_id as ChainName]()
      return get(one)
    },
    (seen) => seen.status === status,
  )
}

/** A transaction that does nothing for an hour, unless it is canceled. */
const later = (chain: ChainName, body: object = {}) =>
  send(chain, { valid_from: new Date(Date.now() + 3_600_000).toISOString(), ...body })

const isMined = async (one: Transaction) =>
  until(
    async () => {
      await NEXT_BLOCK[one.relayer_id as ChainName]()
      return get(one)
    },
    ({ status }) => status === 'mined' || status === 'confirmed',
  )

const PAIRS = CHAINS.flatMap((first) => CHAINS.map((second) => [first, second] as const))

describe('a transaction after one that must be final', () => {
  test.each(['stellar', 'solana'] as const)('is signed when %s has confirmed it', async (first) => {
    const one = await send(first)
    const other = await send('evm', { after: { transaction_id: one.id, state: 'final' } })
    expect(other.after).toMatchObject({ state: 'final' })
    await reach(one, 'confirmed')
    await reach(other, 'confirmed')
  })

  test('is refused where blocks are confirmed that are not final, and sent where none are', async () => {
    const one = await later('evm')
    const after = { transaction_id: one.id, state: 'final' }
    const { status, body } = await post('solana', { after })
    expect([status, body.error]).toEqual([
      400,
      'body.after.state: expected mined or confirmed, because evm:anvil confirms blocks that are not final; "final" needs "finality": "finalized" in the configuration of the network.',
    ])
    await cancel(one)
    const strict = await startService({ rpcUrls: [anvil.url], network: { finality: 'finalized' } })
    try {
      const path = '/relayers/main/transactions'
      const payment = { ...PAYMENTS.evm, valid_from: new Date(Date.now() + 3_600_000).toISOString() }
      const first = await strict.api<Waiting>('POST', path, payment)
      const second = await strict.api<Waiting>('POST', path, {
        ...PAYMENTS.evm,
        after: { transaction_id: first.body.data.id, state: 'final' },
      })
      expect([second.status, second.body.data.awaits_transaction]).toEqual([200, true])
    } finally {
      await strict.stop()
    }
  })
})

describe('a transaction on one network after one on another', () => {
  test.each(PAIRS)('%s first: %s is signed when it is confirmed, and not before', async (first, second) => {
    const one = await send(first)
    const other = await send(second, { after: { transaction_id: one.id } })
    expect(other).toMatchObject({
      status: 'pending',
      awaits_transaction: true,
      after: { transaction_id: one.id, relayer_id: first, state: 'confirmed', on_failure: 'cancel' },
      status_reason: `It waits until transaction ${one.id} of relayer ${first} is confirmed.`,
      attempts: [],
    })
    const { body } = await service.api<Schemas['Diagnosis']>('GET', `${pathOf(other)}/diagnosis`)
    expect(body.data.findings.map(({ code }) => code)).toEqual(['awaits_transaction'])
    const confirmed = await reach(one, 'confirmed')
    const ended = await reach(other, 'confirmed')
    expect(Date.parse(String(ended.sent_at))).toBeGreaterThanOrEqual(
      Date.parse(String(confirmed.confirmed_at)),
    )
  })

  test.each([
    ['stellar', 'evm'],
    ['solana', 'stellar'],
    ['evm', 'solana'],
  ] as const)('%s first: a block of it is enough for %s, if that says so', async (first, second) => {
    const one = await send(first)
    const other = await send(second, { after: { transaction_id: one.id, state: 'mined' } })
    expect(other.status_reason).toContain('is mined')
    await isMined(one)
    await reach(other, 'confirmed')
    await reach(one, 'confirmed')
  })

  test('a chain through all networks ends with the first one, and each says which one it waited for', async () => {
    const chain = [await later('solana')]
    for (const name of ['evm', 'stellar', 'solana', 'evm'] as const)
      chain.push(await send(name, { after: { transaction_id: chain.at(-1)?.id } }))
    const [first, ...others] = chain
    if (first === undefined) throw new Error('nothing was sent')
    await cancel(first)
    for (const [index, one] of others.entries()) {
      const ended = await reach(one, 'canceled', { blocks: false })
      expect(ended.status_reason).toContain(
        `It waited for transaction ${chain[index]?.id}, which is canceled`,
      )
      expect(ended.attempts).toEqual([])
    }
  })

  test.each(PAIRS.filter(([first, second]) => first !== second))(
    '%s first: %s is canceled with the reason when that expires, or sent all the same if it says so',
    async (first, second) => {
      const end = new Date(Date.now() + 3_600_000).toISOString()
      const one = await later(first, {
        after: { transaction_id: (await later('evm')).id },
        valid_from: undefined,
        valid_until: first === 'evm' ? new Date(Date.now() + 1_500).toISOString() : end,
      })
      const after = { transaction_id: one.id }
      const other = await send(second, { after })
      const stubborn = await send(second, { after: { ...after, on_failure: 'send' } })
      if (first !== 'evm') await cancel(one)
      const ended = await reach(other, 'canceled', { blocks: false })
      expect(ended.status_reason).toContain(
        `transaction ${one.id}, which is ${first === 'evm' ? 'expired' : 'canceled'}`,
      )
      await reach(stubborn, 'confirmed')
    },
  )

  test('goes on after the replacement of the other one, and a cancellation by a no-op is no success', async () => {
    const one = await send('evm')
    await reach(one, 'submitted', { blocks: false })
    const other = await send('stellar', { after: { transaction_id: one.id } })
    const replaced = await service.api('PUT', pathOf(one), { ...PAYMENTS.evm, value: '2' })
    expect(replaced.status).toBe(200)
    expect((await reach(one, 'confirmed')).value).toBe('2')
    await reach(other, 'confirmed')

    const second = await send('evm')
    await reach(second, 'submitted', { blocks: false })
    const waits = [
      await send('solana', { after: { transaction_id: second.id } }),
      await send('stellar', { after: { transaction_id: second.id, state: 'mined' } }),
    ]
    expect((await cancel(second)).status).toBe(200)
    await reach(second, 'canceled')
    for (const one of waits) expect((await reach(one, 'canceled', { blocks: false })).attempts).toEqual([])
  })

  test('a reorganisation that takes the other one back: who waits for a block has signed, who waits for the end waits on', async () => {
    const one = await send('evm')
    await reach(one, 'submitted', { blocks: false })
    const patient = await send('stellar', { after: { transaction_id: one.id } })
    const eager = await send('solana', { after: { transaction_id: one.id, state: 'mined' } })
    await anvil.rpc('evm_mine')
    await reach(one, 'mined', { blocks: false })
    await reach(eager, 'confirmed')
    await anvil.rpc('anvil_reorg', [1, []])
    await reach(one, 'submitted', { blocks: false })
    expect(await get(patient)).toMatchObject({ status: 'pending', awaits_transaction: true, attempts: [] })
    await reach(one, 'confirmed')
    await reach(patient, 'confirmed')
  })

  test.each(CHAINS)('on %s, says in a dry run what it would wait for', async (second) => {
    const one = await later(second === 'evm' ? 'stellar' : 'evm')
    const dry = await post(second, { after: { transaction_id: one.id } }, { query: '?dry_run=true' })
    expect(dry.status).toBe(200)
    expect(JSON.stringify(dry.body.metadata)).toContain(
      `It waits until transaction ${one.id} of relayer ${one.relayer_id} is confirmed`,
    )
    await cancel(one)
  })

  test.each(CHAINS)(
    'on %s, one that the key may not read is refused in the words for one that does not exist',
    async (second) => {
      const hidden = await later(second === 'evm' ? 'stellar' : 'evm')
      const { body } = await service.api<{ secret: string }>('POST', '/api-keys', {
        id: `only-${second}`,
        name: 'Sees one relayer',
        scopes: ['transactions:write', 'transactions:read'],
        relayers: [second],
      })
      const headers = { authorization: `Bearer ${body.data.secret}` }
      const refusals: unknown[] = []
      for (const id of [hidden.id, '018f0000-0000-7000-8000-000000000000']) {
        const { status, body: answer } = await post(second, { after: { transaction_id: id } }, { headers })
        refusals.push([status, answer.code, answer.error?.replace(id, 'ID')])
      }
      expect(refusals[0]).toEqual(refusals[1])
      expect(refusals[0]).toEqual([
        404,
        'transaction_not_found',
        'after.transaction_id: there is no transaction ID.',
      ])
      await cancel(hidden)
    },
  )
})

describe('a network that is declared reset', () => {
  test('ends what waits there, and cancels on other networks what waited for it', async () => {
    const onOldChain = await send('evm')
    await reach(onOldChain, 'submitted', { blocks: false })
    const done = await send('stellar')
    const open = await later('solana')
    const waiting = {
      patient: await send('stellar', { after: { transaction_id: onOldChain.id } }),
      stubborn: await send('solana', { after: { transaction_id: onOldChain.id, on_failure: 'send' } }),
      onReset: await send('evm', { after: { transaction_id: open.id } }),
    }
    await anvil.stop()
    anvil = await startEvm(new URL(anvil.url).port, '1700009999')
    await until(
      async () => (await service.api<Schemas['Relayer']>('GET', '/relayers/evm')).body.data,
      ({ system_disabled }) => system_disabled,
    )
    // Silence of the other chain is no end of the transaction (I6).
    expect(await get(waiting.patient)).toMatchObject({ status: 'pending', awaits_transaction: true })
    const { status, body } = await service.api<Schemas['NetworkReset']>('POST', '/networks/evm:anvil/reset')
    expect([status, body.error]).toEqual([200, undefined])
    expect((await get(onOldChain)).status).toBe('failed')
    const ended = await reach(waiting.patient, 'canceled', { blocks: false })
    expect(ended.status_reason).toContain(`transaction ${onOldChain.id}, which is failed (The chain of`)
    await reach(waiting.stubborn, 'confirmed')
    expect(await get(waiting.onReset)).toMatchObject({ status: 'failed', attempts: [] })
    expect(await get(waiting.onReset)).not.toHaveProperty('awaits_transaction')
    await cancel(open)
    await reach(done, 'confirmed')
    expect(await get(waiting.onReset)).toMatchObject({ status: 'failed', attempts: [] })
    // What counts of the old chain still says what it said, so a confirmed one there is a predecessor too.
    await until(
      async () => (await service.api<Schemas['Relayer']>('GET', '/relayers/evm')).body.data,
      ({ system_disabled }) => !system_disabled,
    )
    const next = await send('stellar', { after: { transaction_id: (await send('evm')).id } })
    const first = { ...next, id: next.after?.transaction_id ?? '', relayer_id: 'evm' } as Transaction
    await reach(first, 'confirmed')
    await reach(next, 'confirmed')
  })
})
