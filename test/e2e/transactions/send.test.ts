import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { DEV_ADDRESSES, RECEIVER, type Service, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

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
