import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { DEV_ADDRESSES, RECEIVER, type Service, startService } from '../../support/service.ts'
import {
  keypairOf,
  MAIN,
  payAs,
  payment,
  RECEIVER as STELLAR_RECEIVER,
  type StellarScenario,
  startStellarScenario,
  XLM,
} from '../../support/stellar-scenario.ts'
import { until } from '../../support/until.ts'

describe('on EVM', () => {
  let anvil: Anvil
  let service: Service

  beforeAll(async () => {
    anvil = await startAnvil({ args: ['--block-time', '1'] })
    service = await startService({ rpcUrls: [anvil.url] })
  })

  afterAll(async () => {
    await service.stop()
    await anvil.stop()
  })

  describe('send', () => {
    test('a transfer goes from pending to confirmed and pays exactly what was asked', async () => {
      const before = BigInt(await anvil.rpc<string>('eth_getBalance', [RECEIVER, 'latest']))
      const sent = await service.api(
        'POST',
        '/relayers/main/transactions',
        `{"to":"${RECEIVER}","value":1000000000000000001}`,
      )
      expect(sent).toMatchObject({
        status: 200,
        body: { success: true, data: { status: 'pending', from: DEV_ADDRESSES[0] } },
      })
      const path = `/relayers/main/transactions/${sent.body.data.id}`
      const final = await until(
        () => service.api('GET', path),
        ({ body }) => body.data.status === 'confirmed',
      )
      expect(final.body.data).toMatchObject({
        value: '1000000000000000001',
        nonce: 0,
        attempts: [{ outcome: 'mined' }],
      })
      const after = BigInt(await anvil.rpc<string>('eth_getBalance', [RECEIVER, 'latest']))
      expect(after - before).toBe(1000000000000000001n)
    })
  })

  describe('a call that reverts on chain', () => {
    test('carries the decoded reason, and is final only at depth', async () => {
      const created = await service.api('POST', '/relayers/main/transactions', {
        value: 0,
        data: DEPLOYS_REVERTER,
      })
      const path = (id: string) => `/relayers/main/transactions/${id}`
      const deployed = await until(
        () => service.api('GET', path(created.body.data.id)),
        ({ body }) => body.data.status === 'confirmed',
      )
      const receipt = await anvil.rpc<{ contractAddress: string }>('eth_getTransactionReceipt', [
        deployed.body.data.hash,
      ])
      // With its own gas_limit nothing is simulated, so the chain is the first to say no.
      const call = { to: receipt.contractAddress, value: 0, data: '0x', gas_limit: 100_000 }
      const { body } = await service.api('POST', '/relayers/main/transactions', call)
      const seen = new Set<string>()
      const final = await until(
        async () => {
          const answer = await service.api('GET', path(body.data.id))
          seen.add(answer.body.data.status)
          return answer
        },
        (answer) => answer.body.data.status === 'failed',
      )
      expect([...seen]).toContain('mined')
      expect(final.body.data).toMatchObject({
        status_reason: 'Reverted on chain: no!.',
        attempts: [{ outcome: 'reverted' }],
      })
    })

    test('without gas_limit it is refused immediately, with the same reason', async () => {
      const { status, body } = await service.api('POST', '/relayers/main/transactions', {
        value: 0,
        data: REVERTS,
      })
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'execution_reverted' })
      expect(body.error).toContain('no!')
    })
  })

  /** Copies what follows it to memory and ends with the given instruction: return (f3) or revert (fd). */
  function copyAnd(instruction: 'f3' | 'fd', payload: string): string {
    const size = (payload.length / 2).toString(16).padStart(2, '0')
    return `60${size}600c60003960${size}6000${instruction}${payload}`
  }

  /** ABI encoding of Error("no!"). */
  const NO = [
    '08c379a0',
    '0000000000000000000000000000000000000000000000000000000000000020',
    '0000000000000000000000000000000000000000000000000000000000000003',
    '6e6f210000000000000000000000000000000000000000000000000000000000',
  ].join('')
  const REVERTS = `0x${copyAnd('fd', NO)}`
  const DEPLOYS_REVERTER = `0x${copyAnd('f3', copyAnd('fd', NO))}`
})

describe('on Stellar', () => {
  let scenario: StellarScenario

  beforeAll(async () => {
    scenario = await startStellarScenario()
  })
  afterAll(() => scenario.stop())

  describe('send on Stellar', () => {
    test('a payment goes from pending to confirmed and pays exactly what was asked', async () => {
      const { ledger, send, reach, closeUntil } = scenario
      const before = ledger.account(STELLAR_RECEIVER)?.balance ?? 0n
      const sequence = ledger.account(MAIN.publicKey())?.sequence ?? 0n
      const accepted = await send(payment(12_345_678n))
      expect(accepted).toMatchObject({ status: 'pending', from: MAIN.publicKey(), attempts: [] })
      const submitted = await reach(accepted.id, 'submitted')
      expect(submitted).toMatchObject({
        source_account: MAIN.publicKey(),
        sequence_number: String(sequence + 1n),
        fee_bump: false,
      })
      const confirmed = await closeUntil(accepted.id, 'confirmed')
      expect(ledger.account(STELLAR_RECEIVER)?.balance).toBe(before + 12_345_678n)
      const included = ledger.included(confirmed.hash ?? '')
      expect(included).toBeDefined()
      // Charged is what the ledger asked, not what was bid.
      expect(confirmed.fee).toBe(100)
      expect(confirmed.attempts).toMatchObject([{ kind: 'send', outcome: 'mined', hash: confirmed.hash }])
      expect(confirmed.signature).toMatchObject({ v: 0 })
      expect(confirmed.result_xdr).toBeTypeOf('string')
    })

    test('many at the same time: one after the other, each once, in the order of acceptance', async () => {
      const { ledger, send, closeUntil } = scenario
      const first = ledger.account(MAIN.publicKey())?.sequence ?? 0n
      const sent = await Promise.all([1, 2, 3, 4].map((amount) => send(payment(amount))))
      const last = await Promise.all(sent.map(({ id }) => closeUntil(id, 'confirmed')))
      const numbers = last
        .map(({ sequence_number }) => BigInt(sequence_number ?? 0))
        .sort((a, b) => (a < b ? -1 : 1))
      expect(numbers).toEqual([1n, 2n, 3n, 4n].map((step) => first + step))
    })

    test('what the ledger includes and refuses to do is failed, with the reason in words', async () => {
      const { send, closeUntil } = scenario
      const asset = { type: 'credit4', code: 'USD', issuer: STELLAR_RECEIVER }
      const { id } = await send({
        network: 'standalone',
        operations: [{ type: 'payment', destination: STELLAR_RECEIVER, asset, amount: '5' }],
      })
      const failed = await closeUntil(id, 'failed')
      expect(failed.status_reason).toMatch(/trust/i)
      expect(failed.attempts).toMatchObject([{ outcome: 'reverted' }])
    })

    test('an account with too little money gets an error, and nothing is stored', async () => {
      const { service } = scenario
      const answer = await service.api('POST', '/relayers/main/transactions', payment(5_000n * XLM))
      expect(answer).toMatchObject({ status: 400, body: { code: 'insufficient_balance' } })
    })
  })

  describe('a full queue', () => {
    test('that asks for more than the ledgers charge gets more, within max_fee, with the same sequence number', async () => {
      const { ledger, send, reach, closeUntil } = scenario
      ledger.setCapacity(1)
      const rivals = ['rival 1', 'rival 2', 'rival 3'].map(keypairOf)
      for (const rival of rivals) ledger.fund(rival.publicKey(), 100n * XLM)
      const waiting = await Promise.all(rivals.map((rival) => payAs(ledger, rival, '5000')))
      expect(waiting).toContain('PENDING')
      const { id } = await send(payment(77n))
      await reach(id, 'submitted')
      const confirmed = await closeUntil(id, 'confirmed')
      expect(confirmed.attempts).toMatchObject([{ outcome: 'refused' }, { outcome: 'mined' }])
      expect(new Set(confirmed.attempts.map(({ sequence_number }) => sequence_number)).size).toBe(1)
      ledger.setCapacity(1_000)
    }, 30_000)
  })
})
